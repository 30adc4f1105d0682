package reliable

import "time"

// peer is this rank's end of one pair.
type peer struct {
	e     *Endpoint
	id    int
	at    int // in Endpoint.all
	entry int // in Endpoint.timerHeap, or none
	mtu   int
	dead  error
	ready bool // in Endpoint.ready

	// Sending.
	number     uint64 // of the next packet
	next       uint32 // sequence number of the next segment
	oldest     uint32 // the first one not acknowledged
	win        []*segment
	hotel      hotel
	sendQueues [channels]sendQueue
	turns      uint8 // of the queues
	resends    list
	flight     int // bytes of those in the hotel
	orders     [channels]uint32
	newest     [channels]latestArrived
	repaired   uint32 // losses since it changed
	reorder    uint32 // how far a segment may be overtaken before it is lost
	frag       uint32 // of the next long message
	begun      int    // bytes of long messages that were begun and are not acknowledged
	begins     int    // how many these are
	rtt        rtt
	cc         congestion
	pace       time.Duration // when the next packet would leave at an even pace
	timeout    time.Duration // the last one, or the last probe of the tail
	last       time.Duration // when something was sent last, other than an acknowledgement
	lastAck    time.Duration // when something was acknowledged last
	probes     uint8         // of the tail, since something else was sent
	passed     time.Duration // when a segment that one or two have overtaken is lost
	outage     time.Duration // the last one that came after another without progress
	earlyAcks  earlyAcks
	advanced   time.Duration // when oldest changed last, as long as the peer is heard
	misses     uint32        // transmissions since then that did not arrive though the peer was heard after them

	// Receiving.
	want     uint32 // the first sequence number that has not arrived
	top      uint32 // behind the last that has
	open     []*incoming
	partials []partial // in no order
	parted   int       // bytes of these
	held     int       // bytes of open
	waiting  int       // segments that no acknowledgement tells of
	arrival  time.Duration
	ackAt    time.Duration
	ackNow   bool

	// Life.
	active    bool // something went to it or came from it
	heard     time.Duration
	asked     time.Duration
	due       time.Duration // of the next timer; may be early
	ask       probeState    // for an answer
	suspicion suspicion
	ways      int // by which packets go

	// Long, and behind what every packet touches.
	acked     bitmap // acknowledged, at or after oldest
	arrived   bitmap // arrived, at or after want
	stats     Stats
	largeFrom int // bytes of a body from which on a segment is large
}

// probeState is whether the peer is to be asked for an answer.
type probeState uint8

const (
	askNot   probeState = iota
	askAny              // by the next packet
	askShort            // by a packet of at most MinMTU: a longer one may vanish
)

// latestArrived is the latest transmission on a channel that is known to have arrived.
type latestArrived struct {
	order uint32
	sent  time.Duration
	any   bool
}

func newPeer(e *Endpoint, id int, l Link, now time.Duration) *peer {
	return &peer{
		e: e, id: id, entry: none, due: never, mtu: l.MTU, number: l.Number,
		next: l.SendSeq, oldest: l.SendSeq, want: l.RecvSeq, top: l.RecvSeq,
		hotel: newHotel(e.cfg.Rooms), reorder: leastReorder, ackAt: never, passed: never, heard: now, asked: now,
		ways: max(l.Ways, 1), suspicion: suspicion{next: never},
		rtt: rtt{min: e.cfg.MinRTO, max: e.cfg.MaxRTO}, cc: newCongestion(l.MTU, now),
	}
}

// wake makes the next Outgoing look at p.
func (p *peer) wake() {
	if !p.ready && p.dead == nil {
		p.ready = true
		p.e.ready = append(p.e.ready, p)
	}
}

// touch starts the keep-alives of a pair that was not in use.
func (p *peer) touch(now time.Duration) {
	if !p.active {
		p.active, p.heard, p.asked = true, now, now
		p.wakeAt(now + p.e.cfg.KeepAlive)
	}
}

// wakeAt makes a timer of p end at t or before.
func (p *peer) wakeAt(t time.Duration) {
	if t < p.due && p.dead == nil {
		p.due = t
		p.e.timerHeap.setDue(p, t)
	}
}

// timer ends those whose time has come and sets the next, which is later than now.
func (p *peer) timer(now time.Duration) {
	if now-p.heard >= p.e.cfg.DeadAfter {
		p.failPeer(silent(p, now))
		return
	}
	if err := p.stuck(now); err != nil {
		p.failPeer(err)
		return
	}
	if err := p.refused(now); err != nil {
		p.failPeer(err)
		return
	}
	p.due = min(p.lifeTimer(now), p.suspicionTimer(now), p.ackTimer(now), p.overtakenTimer(now),
		p.resendTimer(now), p.paceTimer(now))
	p.e.timerHeap.setDue(p, p.due)
}

// The following functions do what is due at now and return the time of the next timer.

func (p *peer) lifeTimer(now time.Duration) time.Duration {
	c := &p.e.cfg
	if now >= max(p.heard, p.asked)+c.KeepAlive {
		p.ask, p.asked = askShort, now
		p.wake()
	}
	return min(max(p.heard, p.asked)+c.KeepAlive, p.heard+c.DeadAfter)
}

func (p *peer) ackTimer(now time.Duration) time.Duration {
	if p.ackAt > now {
		return p.ackAt
	}
	p.ackAtOnce()
	return never
}

func (p *peer) paceTimer(now time.Duration) time.Duration {
	if p.isIdle() {
		return never
	}
	if t := p.pace - p.ahead(); t > now {
		return t
	}
	p.wake()
	return never
}

// resendTimer resends only the segment that waited longest. Its acknowledgement decides about the others. So a lost
// acknowledgement costs one resend, not a window of them.
func (p *peer) resendTimer(now time.Duration) time.Duration {
	s := p.hotel.eldest()
	if s == nil {
		return never
	}
	if t := max(s.sent, p.timeout) + p.rtt.timeout(); now < t {
		return min(t, p.tailTimer(s, now))
	}
	p.timeout = now
	if p.stats.Timeouts++; p.earlyAcks == oneEarlyAck {
		p.earlyAcks = earlyAckAfterTimeout
	}
	p.rtt.backoff = min(p.rtt.backoff+1, 16)
	if p.rtt.backoff > 1 {
		p.outage = now
		p.cc.onTimeout(now)
	}
	p.again(s)
	return now + p.rtt.timeout()
}

// tailTimer resends the eldest segment before its timeout when all is quiet. Perhaps the end of a burst was lost, or
// its acknowledgement, and no later packet would show it. Such a resend may be needless, so it does no harm. There are
// at most two, and the window stays. A lost segment counts as lost when it arrives after all. This is section 7 of RFC
// 8985, which sends the newest segment. Here either acknowledgement shows what became of the others, and the eldest has
// waited longest.
func (p *peer) tailTimer(s *segment, now time.Duration) time.Duration {
	t := p.tailAt()
	if now < t {
		return t
	}
	p.probes++
	p.timeout, p.last = now, now
	p.stats.Probes++
	p.again(s)
	return min(now+p.rtt.timeout(), p.tailAt())
}

// deadline is when the timer of the segment that has just been sent ends.
func (p *peer) deadline(now time.Duration) time.Duration {
	return min(max(now, p.timeout)+p.rtt.timeout(), p.tailAt())
}

// tailAt is when the tail is to be probed. That is a round trip and some time after the last transmission, and a moment
// after the last acknowledgement: a segment that waits in a queue is not lost. It is never if the probes are used up,
// or while the timeout resends.
func (p *peer) tailAt() time.Duration {
	if p.probes == mostProbes || p.rtt.backoff > 0 {
		return never
	}
	return max(p.last+(p.rtt.patience()+p.e.cfg.AckDelay)<<p.probes, p.lastAck+minProbeDelay+p.e.cfg.AckDelay)
}

// overtakenTimer looks for segments that too few have overtaken to tell at once that they were lost.
func (p *peer) overtakenTimer(now time.Duration) time.Duration {
	if p.passed <= now {
		p.detect(now) // what it finds, paceTimer has sent
	}
	return p.passed
}

// isIdle tells that nothing waits to be sent, or to be sent again.
func (p *peer) isIdle() bool {
	return p.resends.n == 0 && p.sendQueues[Data].isEmpty() && p.sendQueues[Priority].isEmpty()
}

// wants tells whether p could send at once; if only its pace forbids it, a timer is set.
func (p *peer) wants(now time.Duration) bool {
	if p.ackNow || p.ask != askNot {
		return true
	}
	if p.isIdle() || !p.mayResend() && !p.mayNew() {
		return false
	}
	if p.paced(now) && !p.urgent() {
		p.wakeAt(p.pace - p.ahead())
		return false
	}
	return true
}

// urgent tells that something may go whatever the pace.
func (p *peer) urgent() bool {
	return p.resends.n > 0 && p.resends.head.probe || p.hasSendable(Priority) && p.mayNew()
}

// failPeer gives the peer up and forgets it.
func (p *peer) failPeer(err error) {
	e := p.e
	p.dead, p.ackNow, p.ask = err, false, askNot
	e.forgetPeer(p)
	for i := range p.sendQueues {
		for p.sendQueues[i].whole.head != nil {
			e.freeSegment(p.sendQueues[i].whole.popSegment())
		}
		for p.sendQueues[i].long.head != nil {
			p.endOnce(p.sendQueues[i].long.popMessage(), err)
		}
	}
	p.failWindow(err)
	for _, in := range p.open {
		e.pool.giveBuffer(in.buf)
	}
	for len(p.partials) > 0 {
		e.pool.giveBuffer(p.takePartial(0))
	}
	p.holdMemory(-p.held)
	p.open = nil
	e.cfg.Sink.Dead(p.id, err)
}

// failWindow ends the segments under way. A message has as many segments as pieces, so it is marked when it ends.
func (p *peer) failWindow(err error) {
	for _, s := range p.win {
		if s != nil && s.of != nil && !s.of.ended {
			p.endOnce(s.of, err)
		}
	}
	p.win, p.resends, p.hotel, p.flight = nil, list{}, newHotel(p.e.cfg.Rooms), 0
}

// endOnce ends a message of which pieces may be on their way.
func (p *peer) endOnce(m *outgoing, err error) {
	m.ended = true
	p.e.cfg.Sink.Ended(p.id, m.id, err)
}
