package reliable

import (
	"fmt"
	"math"
	"time"
)

// Sink gets the events of an Endpoint. Its methods are called from within Incoming, Outgoing and Remove.
type Sink interface {
	// Message delivers a message. data is valid only during the call.
	Message(peer int, tag uint8, data []byte)
	// Put delivers a piece of a put, to be copied to place at offset. Both come from the sender and must be checked. A
	// put of n bytes comes as disjoint pieces of n bytes together, in any order, each once. piece is valid only during
	// the call.
	Put(peer int, tag uint8, place, offset uint64, piece []byte)
	// Ended gives the Data of a message that was Taken back to its owner. err is nil if all of it has arrived, else the
	// reason of the peer's death.
	Ended(peer int, id uint64, err error)
	// Dead reports a peer that is given up, after its messages have Ended.
	Dead(peer int, err error)
}

// Out is where packets go.
type Out interface {
	// Room returns at least n bytes for a packet to peer, or nil if no more packets can be taken now.
	Room(peer, n int) []byte
	// Packet sends a packet, the beginning of the buffer that Room returned last. number is greater than those of all
	// earlier packets to this peer. So it may serve as a nonce.
	Packet(peer int, number uint64, ch Channel, packet []byte)
}

// Gather is an optional interface of an Out. With it pieces of long messages go to PacketOf instead of Packet and are
// not copied here. Room is then asked for less.
type Gather interface {
	// PacketOf sends a packet in two parts: packet, the beginning of the buffer that Room returned last, and data
	// behind it. number is as for Packet. data is part of the Data given to Send. It must not be changed. It must be
	// read before the next call of Incoming, Outgoing or Remove, in which its message may end.
	PacketOf(peer int, number uint64, ch Channel, packet, data []byte)
}

// Stats counts the traffic between this rank and a peer. Bytes are those of bodies.
type Stats struct {
	Sent, SentBytes           uint64 // segments, first transmissions
	Resent, ResentBytes       uint64
	Acks                      uint64 // packets that are nothing but an acknowledgement
	Timeouts, Probes          uint64 // retransmission timeouts; probes of the end of a burst, before these
	Spurious                  uint64 // resends of what had arrived, as far as can be told
	Received                  uint64 // segments, each once
	Duplicates, Beyond        uint64 // segments that had come before; that lie above the window
	Malformed, Refused        uint64 // packets dropped: not by the rules; no memory to reassemble
	Flight, CongestionWindow  int    // bytes
	LargeArrived, LargeLost   uint64 // see CountLarge
	PartsLost                 uint64 // losses of segments that are longer than packets now
	Unacknowledged            int    // segments from the first not acknowledged to the last sent
	Waiting                   int    // segments of whole messages, and long messages, of which something was not sent yet
	SmoothRTT, RetransmitTime time.Duration
}

const never = time.Duration(math.MaxInt64)

// Endpoint is one rank's end of its pairs with all peers.
type Endpoint struct {
	cfg       Config
	peers     table
	all       []*peer // the same, each at its peer.at
	ready     []*peer // those that may have something to send now
	timerHeap timerHeap
	called    time.Duration // the last Outgoing
	segs      *segment      // free
	outs      *outgoing     // free
	pool      pool          // for reassembly
	held      int           // bytes of all messages that are not complete
	bufs      pool          // of segments, longer than leastBuffer
	resends   int           // left in this pass
	scratch   []byte        // a body to be sent in parts; nil before the first
}

// New makes an Endpoint without peers. Zero fields of cfg get their defaults. Errors match errConfig.
func New(cfg Config) (*Endpoint, error) {
	cfg = cfg.withDefaults()
	if err := cfg.checkConfig(); err != nil {
		return nil, err
	}
	return &Endpoint{cfg: cfg, pool: pool{most: cfg.Reassembly}, bufs: pool{most: keptBuffers}}, nil
}

// maxPeers bounds the numbers of peers.
const maxPeers = 1 << 20

// Add begins a pair with peer, under a number from 0 to maxPeers-1. Errors match errConfig.
func (e *Endpoint) Add(id int, l Link, now time.Duration) error {
	if err := checkMTU(l.MTU); err != nil {
		return err
	}
	if l.Ways < 0 || l.Ways > maxWays {
		return fmt.Errorf("%w: peer %d by %d ways, want at most %d", errConfig, id, l.Ways, maxWays)
	}
	if id < 0 || id >= maxPeers {
		return fmt.Errorf("%w: peer %d, want 0 to %d", errConfig, id, maxPeers-1)
	}
	if e.peers.peerAt(id) != nil {
		return fmt.Errorf("%w: peer %d is there already", errConfig, id)
	}
	p := newPeer(e, id, l, now)
	e.peers.putPeer(id, p)
	p.at = len(e.all)
	e.all = append(e.all, p)
	return nil
}

// forgetPeer takes a peer that has died out of the tables.
func (e *Endpoint) forgetPeer(p *peer) {
	e.peers.removePeer(p.id)
	e.timerHeap.removePeer(p)
	last := len(e.all) - 1
	e.all[p.at] = e.all[last]
	e.all[p.at].at = p.at
	e.all[last] = nil
	e.all = e.all[:last]
}

// Remove ends the pair with peer as if it had died of err, which must not be nil. It does nothing if there is no such
// peer.
func (e *Endpoint) Remove(id int, err error) {
	if p := e.peers.peerAt(id); p != nil {
		p.failPeer(err)
	}
}

// SetMTU changes the longest packet towards peer, in bytes, from the next one on. A segment that was made for longer
// packets goes in parts, which the peer joins. Errors match errConfig.
func (e *Endpoint) SetMTU(id, mtu int) error {
	p := e.peers.peerAt(id)
	if p == nil {
		return fmt.Errorf("%w: no peer %d", errConfig, id)
	}
	if err := checkMTU(mtu); err != nil {
		return err
	}
	p.mtu = mtu
	p.cc.resize(mtu)
	return nil
}

// Number takes the next packet number towards peer, for a packet of the caller's own; 0 if there is no such peer.
func (e *Endpoint) Number(id int) uint64 {
	p := e.peers.peerAt(id)
	if p == nil {
		return 0
	}
	p.number++
	return p.number - 1
}

// CountLarge sets which segments Stats counts as large from now on: those with a body of more than above bytes that fit
// a packet.
func (e *Endpoint) CountLarge(id, above int) {
	if p := e.peers.peerAt(id); p != nil {
		p.largeFrom = above
	}
}

// Answer makes the next Outgoing send an acknowledgement to peer even if none is due. It goes alone if no segment goes
// there. So what the layer above adds to packets is on its way. It does nothing if there is no such peer, and starts no
// keep-alives.
func (e *Endpoint) Answer(id int) {
	if p := e.peers.peerAt(id); p != nil {
		p.ackAtOnce()
	}
}

// Watch starts the keep-alives of the pair with peer at now. Otherwise the first message to it or packet from it does.
// It does nothing if they run or if there is no such peer.
func (e *Endpoint) Watch(id int, now time.Duration) {
	if p := e.peers.peerAt(id); p != nil {
		p.touch(now)
	}
}

// Idle tells that nothing sent to peer waits or is unacknowledged, or that there is no such peer. Messages from the
// peer do not matter: an acknowledgement may still be due, which Answer sends.
func (e *Endpoint) Idle(id int) bool {
	p := e.peers.peerAt(id)
	return p == nil || p.next == p.oldest && p.sendQueues[Data].isEmpty() && p.sendQueues[Priority].isEmpty()
}

// News is when peer acknowledged something last, by the clock of the calls; zero if it never has, or there is no such
// peer.
func (e *Endpoint) News(id int) time.Duration {
	if p := e.peers.peerAt(id); p != nil {
		return p.lastAck
	}
	return 0
}

// Stats returns the counters for peer; zero if there is none.
func (e *Endpoint) Stats(id int) Stats {
	p := e.peers.peerAt(id)
	if p == nil {
		return Stats{}
	}
	s := p.stats
	s.Flight, s.CongestionWindow = p.flight, p.cc.window
	s.Unacknowledged = int(p.next - p.oldest)
	for i := range p.sendQueues {
		s.Waiting += p.sendQueues[i].whole.n + p.sendQueues[i].long.n
	}
	s.SmoothRTT, s.RetransmitTime = p.rtt.smooth, p.rtt.timeout()
	return s
}

// NextTimer is the time at which Outgoing has something to do if nothing else happens before. It may be early, and is
// the greatest Duration if there is no such time. If the last Outgoing stopped at its budget or for lack of room, it is
// the time of that call.
func (e *Endpoint) NextTimer() time.Duration {
	if len(e.ready) > 0 {
		return e.called
	}
	return e.timerHeap.first()
}

// Outgoing lets timers end, hands up to budget packets to out, and returns their number. It exceeds the budget only for
// a segment in parts. First come resends, then new segments, a few of each peer in turn, then acknowledgements that
// found no packet to share. Call Incoming for what has arrived before.
func (e *Endpoint) Outgoing(now time.Duration, budget int, out Out) int {
	e.timers(now)
	if len(e.ready) == 0 {
		return 0
	}
	t := turn{now: now, left: budget, out: out}
	t.gather, _ = out.(Gather)
	e.resends = e.cfg.ResendsPerPass
	for _, p := range e.ready {
		if p.resends.n > 0 {
			p.resend(&t)
		}
	}
	for more := true; more && t.left > 0; {
		more = false
		for _, p := range e.ready {
			more = p.sendNew(&t) || more
		}
	}
	for _, p := range e.ready {
		if p.ackNow || p.ask != askNot {
			p.sendAck(&t)
		}
	}
	e.keepReady(&t)
	return t.sent
}

// turn is one call of Outgoing.
type turn struct {
	now        time.Duration
	left, sent int // packets
	out        Out
	gather     Gather // the same, or nil
}

// packetRoom asks for room for a packet; without any the turn is over.
func (t *turn) packetRoom(peer, n int) []byte {
	if t.left <= 0 {
		return nil
	}
	b := t.out.Room(peer, n)
	if len(b) < n {
		t.left = 0
		return nil
	}
	return b
}

// keepReady keeps the peers ready that could go on at once. The first moves to the end.
func (e *Endpoint) keepReady(t *turn) {
	if len(e.ready) == 1 {
		p := e.ready[0]
		if p.ready = p.dead == nil && p.wants(t.now); !p.ready {
			e.ready[0] = nil
			e.ready = e.ready[:0]
		}
		return
	}
	kept := e.ready[:0]
	first := e.ready[0]
	for _, p := range e.ready {
		p.ready = p.dead == nil && p.wants(t.now)
		if p.ready && p != first {
			kept = append(kept, p)
		}
	}
	if first.ready {
		kept = append(kept, first)
	}
	clear(e.ready[len(kept):])
	e.ready = kept
}

// timers runs the timers of all peers that are due at now. Such a timer sends, resends, or gives up its peer, and
// sets the peer's next one. If the first timer is overdue by much, this process has not run for a while. Then the
// silence of its peers does not count (forgive).
func (e *Endpoint) timers(now time.Duration) {
	// A timer that ends late shows that this rank was away: between timers it may sleep. The last pass has left no
	// ended timer behind.
	if now-e.timerHeap.first() > min(e.cfg.KeepAlive, e.cfg.DeadAfter-e.cfg.KeepAlive) {
		e.forgive(now)
	}
	e.called = now
	for e.timerHeap.first() <= now {
		e.timerHeap.heap[0].p.timer(now)
	}
}

// forgive keeps peers from being taken for dead because this rank itself was away.
func (e *Endpoint) forgive(now time.Duration) {
	for _, p := range e.all {
		p.heard = now
		p.moves(now)
	}
}

func (e *Endpoint) newSegment() *segment {
	s := e.segs
	if s == nil {
		return &segment{room: none}
	}
	e.segs, s.next = s.next, nil
	return s
}

func (e *Endpoint) freeSegment(s *segment) {
	if cap(s.buf) > leastBuffer {
		e.bufs.giveBuffer(s.buf)
	}
	s.probe, s.timed, s.arrived, s.part = false, false, false, 0
	s.of, s.buf = nil, s.small[:0]
	s.next, e.segs = e.segs, s
}

// widen gives a segment a buffer of at least n bytes. A small one stays with the segment. A larger one has at least
// twice the old size, so that joining messages are not copied often. Most segments have one small message, however long
// packets may be.
func (e *Endpoint) widen(s *segment, n int) {
	if n <= leastBuffer {
		s.small = make([]byte, 0, leastBuffer)
		s.buf = s.small
		return
	}
	b := e.bufs.takeBuffer(max(n, min(2*cap(s.buf), MaxMTU)))[:len(s.buf)]
	copy(b, s.buf)
	if cap(s.buf) > leastBuffer {
		e.bufs.giveBuffer(s.buf)
	}
	s.buf = b
}

func (e *Endpoint) newOutgoing() *outgoing {
	m := e.outs
	if m == nil {
		return new(outgoing)
	}
	e.outs, m.next = m.next, nil
	return m
}

// endMessage gives a message back to its owner.
func (e *Endpoint) endMessage(p *peer, m *outgoing, err error) {
	id := m.id
	*m = outgoing{next: e.outs}
	e.outs = m
	e.cfg.Sink.Ended(p.id, id, err)
}
