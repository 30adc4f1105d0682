package reliable

import (
	"encoding/binary"
	"time"
)

// Incoming takes in a packet as it came; the caller vouches that it is from peer. It drops and counts a malformed one.
// It calls the Sink for the contents. It does not block, and allocates only for the first long messages.
func (e *Endpoint) Incoming(id int, packet []byte, now time.Duration) {
	p := e.peers.peerAt(id)
	if p == nil {
		return
	}
	h, sack, body, ok := parse(packet)
	if !ok || !p.valid(&h) {
		p.stats.Malformed++
		return
	}
	p.touch(now)
	if p.heard = now; p.suspicion.active {
		p.trust()
	}
	if h.flags&flagPart != 0 {
		p.takePart(h.seq, body, now)
	} else if h.flags&flagSegment != 0 { // it is delivered before anything else is looked at: somebody waits for it
		p.segment(h.seq, body, now)
	}
	if p.dead != nil {
		return
	}
	p.heed(&h, sack, now)
	if h.flags&flagAnswer != 0 {
		p.ackAtOnce()
	}
}

// isMissing tells whether a segment lies in the window and has not come yet. Otherwise it counts and answers the
// segment.
func (p *peer) isMissing(seq uint32) bool {
	switch {
	case after(p.want, seq), seq-p.want < Window && p.arrived.hasSeq(seq):
		p.stats.Duplicates++ // the acknowledgement was lost
	case seq-p.want >= Window:
		p.stats.Beyond++
	default:
		return true
	}
	p.ackAtOnce()
	return false
}

// segment takes in a segment: once, if it lies in the window.
func (p *peer) segment(seq uint32, body []byte, now time.Duration) {
	if !p.isMissing(seq) {
		return
	}
	if len(p.partials) > 0 { // it may have come in one piece after all
		if k := p.findPartial(seq); k != none {
			p.e.pool.giveBuffer(p.takePartial(k))
		}
	}
	if data, ok := lone(body); ok {
		p.stats.Received++
		p.mark(seq, now)
		p.e.cfg.Sink.Message(p.id, body[1], data)
		return
	}
	switch p.admit(body) {
	case malformed:
		p.stats.Malformed++
		return
	case refused: // as if lost: it comes again
		p.stats.Refused++
		return
	}
	p.stats.Received++
	p.mark(seq, now)
	p.deliverBody(body)
}

// lone returns the data of a body that is one whole message, as most are.
func lone(body []byte) ([]byte, bool) {
	if len(body) < fragHeader || body[0] != kindFrag || int(binary.BigEndian.Uint16(body[2:])) != len(body)-fragHeader {
		return nil, false
	}
	return body[fragHeader:], true
}

// mark notes that seq has arrived, and when to acknowledge it: at once if a hole appears or the last one is filled,
// else soon.
func (p *peer) mark(seq uint32, now time.Duration) {
	late := after(p.top, seq)
	hole := after(seq, p.top)
	if !after(p.top, seq) {
		p.top = seq + 1
	}
	p.arrived.setSeq(seq)
	for p.arrived.hasSeq(p.want) {
		p.arrived.clear(p.want)
		p.want++
	}
	p.arrival = now
	p.waiting++
	if hole || late && p.want == p.top || p.waiting >= p.e.cfg.AckEvery {
		p.ackAtOnce()
	} else if p.ackAt == never {
		p.ackAt = now + p.e.cfg.AckDelay
		p.wakeAt(p.ackAt)
	}
}

func (p *peer) ackAtOnce() {
	p.ackNow = true
	p.wake()
}

// verdict is the decision about a segment.
type verdict uint8

const (
	welcome verdict = iota
	malformed
	refused
)

// admit checks a body before any of it is delivered, so that a segment is taken whole or not at all.
func (p *peer) admit(body []byte) verdict {
	var r record
	for n := 0; len(body) > 0; n++ {
		rest, ok := r.nextRecord(body)
		if !ok {
			return malformed
		}
		if r.kind == kindChunk {
			if n > 0 || len(rest) > 0 {
				return malformed
			}
			return p.admitChunk(&r)
		}
		body = rest
	}
	return welcome
}

// deliverBody passes on a body that admit has accepted.
func (p *peer) deliverBody(body []byte) {
	var r record
	for len(body) > 0 && p.dead == nil {
		body, _ = r.nextRecord(body)
		switch r.kind {
		case kindFrag:
			p.e.cfg.Sink.Message(p.id, r.tag, r.data)
		case kindPut:
			p.e.cfg.Sink.Put(p.id, r.tag, r.place, r.offset, r.data)
		case kindChunk:
			p.chunk(&r)
		}
	}
}
