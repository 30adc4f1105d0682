package reliable

import (
	"encoding/binary"
	"fmt"
	"time"
)

// Message is the argument of Send.
type Message struct {
	Data []byte
	// Tag comes with the data, as it is.
	Tag uint8
	// Urgent messages take the priority channel.
	Urgent bool
	// Put sends Data to Offset of the receiver's Place, instead of delivering a message.
	Put           bool
	Place, Offset uint64
	// ID names the message in Ended, if it is Taken.
	ID uint64
}

// Status is the outcome of Send.
type Status uint8

const (
	// Copied: the message is on its way, and Data the caller's again.
	Copied Status = iota
	// Taken: the message is on its way, and Data must not change until Ended.
	Taken
	// Full: too much waits for this peer. There was no side effect; try again after Incoming or Outgoing.
	Full
	// Gone: there is no such peer, or no more.
	Gone
	// TooLong: the message is longer than Config.MaxMessage, or the put ends beyond 2^64.
	TooLong
)

// String names the status.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("Status(%d)", uint8(s))
}

var statusNames = [...]string{"copied", "taken", "full", "gone", "too long"}

// Send queues a message for peer; Outgoing sends it. A message that fits a packet is copied, if possible into one with
// others that wait. Send does not block. It does not allocate either, once there are enough buffers.
func (e *Endpoint) Send(id int, m Message, now time.Duration) Status {
	p := e.peers.peerAt(id)
	if p == nil {
		return Gone
	}
	header := fragHeader
	if m.Put {
		header = putHeader
		if m.Offset+uint64(len(m.Data)) < m.Offset {
			return TooLong
		}
	} else if len(m.Data) > e.cfg.MaxMessage {
		return TooLong
	}
	ch := Data
	if m.Urgent || len(m.Data) <= e.cfg.Tiny {
		ch = Priority
	}
	var st Status
	if n := header + len(m.Data); n <= p.bodyRoom() {
		st = p.sendWhole(ch, &m, n)
	} else {
		st = p.sendLong(ch, &m)
	}
	if st != Full {
		p.touch(now)
		p.wake()
	}
	return st
}

// bodyRoom is the longest body in bytes.
func (p *peer) bodyRoom() int { return p.mtu - headerSize }

func (p *peer) sendWhole(ch Channel, m *Message, n int) Status {
	l := &p.sendQueues[ch].whole
	s := l.tail
	if s == nil || len(s.buf)+n > p.bodyRoom() {
		if l.n >= p.e.cfg.Queue {
			return Full
		}
		s = p.e.newSegment()
		l.pushSegment(s)
	}
	k := len(s.buf)
	if cap(s.buf) < k+n {
		p.e.widen(s, k+n)
	}
	s.buf = s.buf[:k+n]
	b := s.buf[k:]
	if m.Put {
		r := record{kind: kindPut, tag: m.Tag, place: m.Place, offset: m.Offset, data: m.Data}
		r.putRecord(b)
		return Copied
	}
	b[0], b[1] = kindFrag, m.Tag
	binary.BigEndian.PutUint16(b[2:], uint16(len(m.Data)))
	copy(b[fragHeader:], m.Data)
	return Copied
}

func (p *peer) sendLong(ch Channel, m *Message) Status {
	l := &p.sendQueues[ch].long
	if l.n >= p.e.cfg.Queue {
		return Full
	}
	o := p.e.newOutgoing()
	*o = outgoing{data: m.Data, id: m.ID, tag: m.Tag, kind: kindChunk, left: len(m.Data)}
	if m.Put {
		o.kind, o.place, o.offset = kindPut, m.Place, m.Offset
	} else {
		o.frag = p.frag
		p.frag++
	}
	l.pushMessage(o)
	return Taken
}

const (
	quantum       = 16 // packets to a peer before it is another's turn
	dataTurn      = 4  // the data channel gets one turn in so many even if the priority channel never runs dry
	burst         = 16 // packets that may go ahead of an even pace
	leastAhead    = 50 * time.Microsecond
	minProbeDelay = 50 * time.Microsecond // beside a round trip, before the tail is probed
	mostProbes    = 2                     // of the tail in a row
	leastReorder  = 3
	mostReorder   = 64
	repairs       = 16 // losses without an error among them, after which less may be overtaken again
	piggyWords    = 8  // of the SACK bitmap, beside a body
	packetCharge  = 64
	gatherRoom    = headerSize + 8*piggyWords + putHeader // for what stands before the data of a piece; less than MinMTU
)

// ahead is how far packets may be ahead of an even pace. A batch is cheaper than its packets, and timers are coarse.
func (p *peer) ahead() time.Duration {
	return max(leastAhead, p.cc.pause(burst*p.mtu, p.rtt.round()))
}

func (p *peer) paced(now time.Duration) bool { return p.pace > now && p.pace > now+p.ahead() }

func (p *peer) uncongested() bool { return p.flight < p.cc.window }

// mayNew tells whether a new segment may be sent, its pace aside. It needs the window, the congestion window, and a
// room in the hotel beside those for resends.
func (p *peer) mayNew() bool {
	if !p.hasSendable(Data) && !p.hasSendable(Priority) {
		return false
	}
	if !p.uncongested() {
		p.cc.busy = true
		return false
	}
	return p.next-p.oldest < sendWindow && p.hotel.guests+p.resends.n < p.hotel.most
}

func (p *peer) mayResend() bool {
	return p.resends.n > 0 && (p.uncongested() || p.resends.head.probe)
}

// sendNew sends up to a quantum of new segments; it tells whether there may be more to send.
func (p *peer) sendNew(t *turn) bool {
	n := 0
	for ; n < quantum && p.mayNew(); n++ {
		ch := p.sendQueue()
		if ch == Data && p.paced(t.now) {
			if !p.hasSendable(Priority) {
				break
			}
			ch = Priority
		}
		b := t.packetRoom(p.id, p.need(t, ch))
		if b == nil {
			return false
		}
		s := p.cutSegment(ch)
		if p.next == p.oldest {
			p.moves(t.now)
		}
		s.seq, s.tries = p.next, 0
		p.next++
		p.probes = 0
		if p.win == nil {
			p.win = make([]*segment, Window)
		}
		p.win[s.seq%Window] = s
		p.stats.Sent++
		p.stats.SentBytes += uint64(s.size())
		p.transmit(t, b, s, ch)
	}
	return n == quantum
}

// hasSendable tells whether a channel has a segment that may be sent.
func (p *peer) hasSendable(ch Channel) bool {
	l := &p.sendQueues[ch]
	return l.whole.head != nil || p.mayCut(l.long.head)
}

// mayCut tells whether a piece of m may be sent: the receiver must be sure to have memory for it. It holds at most the
// messages that were begun here and are not acknowledged. Chunks that it has to refuse would take the rooms and the
// congestion window of those that it waits for.
func (p *peer) mayCut(m *outgoing) bool {
	if m == nil || m.kind == kindPut || m.cut > 0 {
		return m != nil
	}
	return p.begun+len(m.data) <= p.e.cfg.Reassembly && p.begins < mostOpen
}

// need is how much room the packet of the next segment of a channel may take.
func (p *peer) need(t *turn, ch Channel) int {
	l := &p.sendQueues[ch]
	switch {
	case !p.longNext(l):
		return p.mtu
	case t.gather != nil:
		return gatherRoom
	}
	return p.mtu
}

// longNext tells whether the next segment of a queue, which has one, is a piece of a long message.
func (p *peer) longNext(l *sendQueue) bool {
	return l.whole.head == nil || l.toLong && p.mayCut(l.long.head)
}

// sendQueue chooses the channel of the next segment.
func (p *peer) sendQueue() Channel {
	p.turns++
	if !p.hasSendable(Priority) || p.turns%dataTurn == 0 && p.hasSendable(Data) {
		return Data
	}
	return Priority
}

// cutSegment takes the next segment of a channel, which has one.
func (p *peer) cutSegment(ch Channel) *segment {
	l := &p.sendQueues[ch]
	if !p.longNext(l) {
		l.toLong = true
		return l.whole.popSegment()
	}
	l.toLong = false
	m := l.long.head
	if m.cut == 0 && m.kind == kindChunk {
		p.begun += len(m.data)
		p.begins++
	}
	s := p.e.newSegment()
	s.of, s.off = m, m.cut
	s.len = min(p.bodyRoom()-m.header(), len(m.data)-m.cut)
	m.cut += s.len
	if m.cut == len(m.data) {
		l.long.popMessage()
	}
	return s
}

// resend sends lost segments, on the data channel whichever they were on before. When much is lost, acknowledgements
// need a channel that is not clogged. A probe is but one packet, and asks for an answer.
func (p *peer) resend(t *turn) {
	for p.e.resends > 0 && p.resends.n > 0 {
		s := p.resends.head
		if s.arrived {
			p.e.freeSegment(p.resends.popSegment())
			continue
		}
		if !s.probe && (!p.uncongested() || p.paced(t.now)) {
			return
		}
		n := p.mtu
		if t.gather != nil && s.of != nil && s.size() <= p.bodyRoom() {
			n = gatherRoom
		}
		b := t.packetRoom(p.id, n)
		if b == nil {
			return
		}
		p.resends.popSegment()
		ch := Data
		if s.probe { // what it overtakes on its own channel was lost
			ch, p.ask, s.probe = s.channel, max(p.ask, askAny), false
		} else {
			p.probes = 0
		}
		p.e.resends--
		p.stats.Resent++
		p.stats.ResentBytes += uint64(s.size())
		p.transmit(t, b, s, ch)
	}
}

// transmit sends a segment and starts its timer.
func (p *peer) transmit(t *turn, b []byte, s *segment, ch Channel) {
	size := s.size()
	p.countMiss(s, t.now)
	s.tries++
	s.channel, s.charge = ch, size+packetCharge
	s.order = p.orders[ch]
	p.orders[ch]++
	p.flight += s.charge
	p.hotel.checkIn(s, ch, t.now)
	p.pace = max(p.pace, t.now) + p.cc.pause(s.charge, p.rtt.round())
	p.last = t.now
	p.wakeAt(p.deadline(t.now))
	if size > p.bodyRoom() {
		p.sendParts(t, b, s, ch)
		return
	}
	h := header{flags: flagSegment, seq: s.seq, size: uint16(size)}
	n := p.acknowledge(&h, b, size, piggyWords, t.now)
	if t.gather != nil && s.of != nil {
		r := s.recordOf()
		n += r.putHead(b[n:])
		p.emit(t, &h, b[:n], r.data, ch)
		return
	}
	s.putBody(b[n:])
	p.emit(t, &h, b[:n+size], nil, ch)
}

// emit writes the header at the front of b and hands the packet out under the next number, with data behind it if there
// is any.
func (p *peer) emit(t *turn, h *header, b, data []byte, ch Channel) {
	if ch == Priority {
		h.flags |= flagPriority
	}
	if p.ask != askNot {
		h.flags |= flagAnswer
		if p.ask == askAny || len(b)+len(data) <= MinMTU {
			p.ask = askNot
		}
	}
	h.putHeader(b)
	number := p.number
	p.number++
	t.left--
	t.sent++
	if data == nil {
		t.out.Packet(p.id, number, ch, b)
	} else {
		t.gather.PacketOf(p.id, number, ch, b, data)
	}
}

func silent(p *peer, now time.Duration) error {
	return fmt.Errorf("%w: peer %d, for %v", ErrSilent, p.id, now-p.heard)
}

const (
	// mostMisses is how many packets may be sent in vain to a peer that is heard but lacks one and the same segment.
	mostMisses = 16
	// leastTries is how often that segment itself must have been sent.
	leastTries = 2
)

// countMiss counts the transmissions that did not arrive although the peer was heard since. s is about to be sent
// again. A silence begins the count anew.
func (p *peer) countMiss(s *segment, now time.Duration) {
	switch {
	case now-p.heard > 2*p.e.cfg.KeepAlive:
		p.moves(now)
	case s.tries > 0 && p.heard > s.sent:
		p.misses++
	}
}

// moves notes that the peer now has the first segment that it lacked, or that nobody knows.
func (p *peer) moves(now time.Duration) { p.misses, p.advanced = 0, now }

// stuck returns ErrStuck if the peer is alive, but its first segment without an acknowledgement does not get through.
// That takes mostMisses transmissions that were lost although the peer was heard, leastTries of that segment, and
// Config.DeadAfter without an advance. Otherwise it returns nil.
func (p *peer) stuck(now time.Duration) error {
	if p.misses < mostMisses || now-p.advanced < p.e.cfg.DeadAfter || p.next == p.oldest {
		return nil
	}
	s := p.win[p.oldest%Window]
	if s == nil || s.tries < leastTries {
		return nil
	}
	return fmt.Errorf("%w: peer %d is heard, but %d bytes were sent %d times, and nothing behind them for %v",
		ErrStuck, p.id, s.size(), s.tries, now-p.advanced)
}
