package reliable

import (
	"encoding/binary"
	"math"
	"math/bits"
	"time"
)

// acknowledge fills in h what has arrived. It writes as many words of the bitmap as fit beside a body of size bytes,
// the newest if not all do. It returns where the body begins. If all words fit, no other acknowledgement is needed.
func (p *peer) acknowledge(h *header, b []byte, size, most int, now time.Duration) int {
	h.ack = p.want - 1
	all := int(p.top-p.want+63) / 64
	n := min(all, most, max(p.mtu-headerSize-size, 0)/8)
	h.words, h.first = uint8(n), uint8(all-n)
	for i := range n {
		binary.BigEndian.PutUint64(b[headerSize+8*i:], p.arrived.wordFrom(p.want+64*uint32(all-n+i)))
	}
	if p.waiting > 0 {
		h.delay = uint16(min((now-p.arrival)/time.Microsecond, math.MaxUint16))
	}
	if n == all {
		p.ackNow, p.ackAt, p.waiting = false, never, 0
	}
	return headerSize + 8*n
}

// sendAck sends an acknowledgement that could not wait longer, or asks for one.
func (p *peer) sendAck(t *turn) {
	b := t.packetRoom(p.id, p.mtu)
	if b == nil {
		return
	}
	var h header
	n := p.acknowledge(&h, b, 0, sackWords, t.now)
	p.ackNow, p.ackAt, p.waiting = false, never, 0 // also of a bad sender, of whose numbers not all fit
	p.stats.Acks++
	p.emit(t, &h, b[:n], nil, Priority)
}

// valid tells whether h acknowledges only what was sent.
func (p *peer) valid(h *header) bool {
	return p.next-(h.ack+1) < 1<<31
}

// heed takes in an acknowledgement. One that is older than the last is ignored.
func (p *peer) heed(h *header, sack []byte, now time.Duration) {
	if p.next-(h.ack+1) > p.next-p.oldest {
		return
	}
	if p.oldest != h.ack+1 {
		p.moves(now)
	}
	n := ackInfo{now: now, delay: time.Duration(h.delay) * time.Microsecond}
	for p.oldest != h.ack+1 {
		if p.acked.hasSeq(p.oldest) {
			p.acked.clear(p.oldest)
		} else {
			p.releaseSegment(p.oldest, &n)
		}
		p.oldest++
	}
	for i := range int(h.words) {
		seq := h.ack + 1 + 64*uint32(int(h.first)+i)
		if !after(p.next, seq) {
			break
		}
		w := binary.BigEndian.Uint64(sack[8*i:]) &^ p.acked.wordFrom(seq)
		w &= 1<<(p.next-seq) - 1 // what was sent: all of the word if that is 64 or more
		for ; w != 0; w &= w - 1 {
			q := seq + uint32(bits.TrailingZeros64(w))
			p.acked.setSeq(q)
			p.releaseSegment(q, &n)
		}
	}
	if n.bytes > 0 {
		p.progress(&n)
	}
}

// ackInfo is the content of one acknowledgement.
type ackInfo struct {
	now, delay time.Duration
	bytes      int
	fresh      bool          // a segment that was sent once is among them
	sent       time.Duration // when the latest of these was
}

// large tells whether s counts as large. A segment in parts does not: the loss of any part is its loss, and its parts
// may have left while packets had another size.
func (p *peer) large(s *segment) bool {
	n := s.size()
	return n > p.largeFrom && n <= p.bodyRoom()
}

// releaseSegment ends the life of a segment that has arrived.
func (p *peer) releaseSegment(seq uint32, n *ackInfo) {
	s := p.win[seq%Window]
	p.win[seq%Window] = nil
	n.bytes += s.charge
	if p.large(s) {
		p.stats.LargeArrived++
	}
	lost := s.room == none
	if !lost {
		p.flight -= s.charge
		p.hotel.checkOut(s)
	}
	p.learnArrival(s, n, lost)
	m, k := s.of, s.len
	if lost {
		s.arrived, s.of = true, nil // it is freed where it is met among the resends
	} else {
		p.e.freeSegment(s)
	}
	if m != nil {
		if m.left -= k; m.left == 0 {
			if m.kind == kindChunk {
				p.begun -= len(m.data)
				p.begins--
			}
			p.e.endMessage(p, m, nil)
		}
	}
}

// learnArrival uses the time at which s arrived. The acknowledgement of a segment that was sent again may be for an
// earlier transmission. It is if it comes much sooner than any round trip, or before the resend. Then the resend was
// needless.
func (p *peer) learnArrival(s *segment, n *ackInfo, lost bool) {
	soon := !lost && s.tries > 1 && n.now-s.sent < p.cc.unloaded()/2
	if lost || soon && p.earlyAcks != earlyAckAfterTimeout {
		if soon {
			p.earlyAcks = oneEarlyAck
		}
		p.stats.Spurious++
		if !s.timed {
			p.reorder, p.repaired = min(2*p.reorder, mostReorder), 0
		}
		return
	}
	if s.tries > 1 {
		p.repair(s)
	}
	m := &p.newest[s.channel]
	if !m.any || after(s.order, m.order) {
		*m = latestArrived{order: s.order, sent: s.sent, any: true}
	}
	if s.tries > 1 { // it is never certain which transmission it was: no sample (Karn's rule)
		return
	}
	p.earlyAcks = noEarlyAck
	if !n.fresh || s.sent >= n.sent {
		n.fresh, n.sent = true, s.sent
	}
}

// earlyAcks is what acknowledgements that come sooner than a round trip are taken for: those of earlier transmissions.
// But suppose that one comes, a timeout ends, and another one comes before anything that was sent once has arrived.
// Then the path has become shorter. All that is under way may be lost, and would cost a timeout each.
type earlyAcks uint8

const (
	noEarlyAck           earlyAcks = iota
	oneEarlyAck                    // one has come
	earlyAckAfterTimeout           // and a timeout has ended since
)

// repair notes that s was really lost. Networks change, so after enough such losses in a row segments may be overtaken
// by less again.
func (p *peer) repair(s *segment) {
	if s.timed {
		p.cc.lost += s.charge
	}
	if p.repaired++; p.repaired >= repairs {
		p.reorder, p.repaired = max(p.reorder/2, leastReorder), 0
	}
}

// progress goes on after something has arrived.
func (p *peer) progress(n *ackInfo) {
	p.lastAck = n.now
	if n.fresh {
		d := n.now - n.sent
		if d > n.delay {
			d -= n.delay
		}
		p.rtt.sample(d)
		p.cc.onSample(d, n.now)
	} else if p.rtt.smooth > 0 {
		p.rtt.backoff = 0
	}
	if p.passed = never; p.hotel.guests > 0 {
		p.detect(n.now)
	}
	p.cc.onAck(n.bytes, p.rtt.round(), n.now)
	p.wake()
}

// detect finds the segments that were lost, and when more may be. The priority channel may overtake the data channel by
// far. So between channels only time counts, and more of it.
func (p *peer) detect(now time.Duration) {
	slack := max(p.rtt.smooth/4, leastAhead) * time.Duration(p.reorder/leastReorder)
	p.passed = never
	p.overtaken(Data, slack, p.rtt.base()/2, now)
	p.overtaken(Priority, slack, slack, now)
	p.wakeAt(p.passed)
}

// overtaken finds the lost segments of a channel. A segment is lost if enough later ones of its channel have overtaken
// it, or one that was sent slack later. If fewer have, it has a round trip and slack to arrive. A segment of the other
// channel must have been sent far later.
func (p *peer) overtaken(ch Channel, slack, far, now time.Duration) {
	m, o := &p.newest[ch], &p.newest[Priority-ch]
	for s := p.hotel.firstGuest(ch); s != nil; s = p.hotel.firstGuest(ch) {
		if m.any && (int32(m.order-s.order) >= int32(p.reorder) || s.sent+slack < m.sent) || o.any && s.sent+far < o.sent {
			p.lose(s, false)
			continue
		}
		if !m.any || !after(m.order, s.order) {
			return
		}
		if t := s.sent + p.rtt.round() + slack; t > now {
			p.passed = min(p.passed, t)
			return
		}
		p.lose(s, false)
	}
}

// lose moves a segment from the hotel to the resends. timed says that a timer has ended; then nobody knows whether it
// was lost. Otherwise it was overtaken. A loss of a segment sent before an outage says nothing of the network now.
func (p *peer) lose(s *segment, timed bool) {
	if p.large(s) {
		p.stats.LargeLost++
	} else if s.size() > p.bodyRoom() {
		p.stats.PartsLost++
	}
	p.hotel.checkOut(s)
	p.flight -= s.charge
	s.probe, s.timed = timed, timed
	if !timed {
		if s.sent >= p.outage {
			p.cc.lost += s.charge
		}
		p.resends.pushSegment(s)
		return
	}
	p.resends.pushFront(s)
	p.wake()
}
