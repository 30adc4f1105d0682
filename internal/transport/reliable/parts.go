package reliable

import (
	"encoding/binary"
	"slices"
	"time"
)

// Packets may become shorter when segments that were made for longer ones exist, some of them under way. Such a segment
// has its number, and may have arrived, so it cannot be cut anew. It goes in parts, a packet each, which the receiver
// joins. The loss of a part is the loss of the segment, but the other parts are kept until it comes again.

const (
	partHeader = 4                                  // index of the first unit, size of the segment's body
	unit       = (MinMTU - headerSize - partHeader) // bytes; a part is some of them in a row, whatever the size of packets was when it left
	mostUnits  = (MaxMTU + unit - 1) / unit
)

// partial is a segment of which some parts have arrived.
type partial struct {
	seq  uint32
	left int // units
	got  [(mostUnits + 63) / 64]uint64
	buf  []byte
}

func units(size int) int { return (size + unit - 1) / unit }

// sendParts sends a segment that is too long for a packet; b is room for the first part. It begins with the part at
// which room was short the last time. It ignores the budget: a segment that is not sent whole would wait for a timer.
func (p *peer) sendParts(t *turn, b []byte, s *segment, ch Channel) {
	e := p.e
	if e.scratch == nil {
		e.scratch = make([]byte, MaxMTU)
	}
	body := e.scratch[:s.size()]
	s.putBody(body)
	per, all := (p.bodyRoom()-partHeader)/unit, units(len(body))
	start := int(s.part) % all
	for i, left := start, all; left > 0; {
		if b == nil {
			if b = t.out.Room(p.id, p.mtu); len(b) < p.mtu {
				s.part = uint16(i)
				t.left = 0
				return
			}
		}
		n := min(per, all-i, left)
		data := body[i*unit : min((i+n)*unit, len(body))]
		h := header{flags: flagSegment | flagPart, seq: s.seq, size: uint16(partHeader + len(data))}
		k := p.acknowledge(&h, b, int(h.size), piggyWords, t.now)
		binary.BigEndian.PutUint16(b[k:], uint16(i))
		binary.BigEndian.PutUint16(b[k+2:], uint16(len(body)))
		k += partHeader
		p.emit(t, &h, b[:k+copy(b[k:], data)], nil, ch)
		b = nil
		i, left = (i+n)%all, left-n
	}
}

// again resends s, the eldest guest of the hotel, because of a timer. If s goes in parts it resends the first segment of
// the window instead. The receiver keeps that one's parts before all others, so it is whole after a few times. By turns
// each would be sent too seldom for that.
func (p *peer) again(s *segment) {
	first := p.win[p.oldest%Window]
	switch {
	case s.size() <= p.bodyRoom() || first == nil:
		p.lose(s, true)
	case first.room != none:
		p.lose(first, true)
	default:
		p.resends.removeSegment(first)
		first.probe = true
		p.resends.pushFront(first)
		p.wake()
	}
}

// takePart takes in a part; with the last one the segment has arrived.
func (p *peer) takePart(seq uint32, body []byte, now time.Duration) {
	if !p.isMissing(seq) {
		return
	}
	if len(body) <= partHeader {
		p.stats.Malformed++
		return
	}
	i, size, data := int(binary.BigEndian.Uint16(body)), int(binary.BigEndian.Uint16(body[2:])), body[partHeader:]
	end := i*unit + len(data)
	if end > size || end < size && len(data)%unit != 0 || size > MaxMTU-headerSize {
		p.stats.Malformed++
		return
	}
	k := p.findPartial(seq)
	if k == none {
		k = p.beginPartial(seq, size)
	}
	if k == none { // as if lost: it comes again
		return
	}
	x := &p.partials[k]
	if len(x.buf) != size {
		p.stats.Malformed++
		return
	}
	copy(x.buf[i*unit:], data)
	for ; i < units(end); i++ {
		if x.got[i/64]>>(i%64)&1 == 0 {
			x.got[i/64] |= 1 << (i % 64)
			x.left--
		}
	}
	if x.left == 0 {
		whole := p.takePartial(k)
		p.segment(seq, whole, now)
		p.e.pool.giveBuffer(whole)
	}
}

func (p *peer) findPartial(seq uint32) int {
	return slices.IndexFunc(p.partials, func(x partial) bool { return x.seq == seq })
}

// beginPartial makes an entry for a segment, or returns none. Parts take at most a quarter of the memory for
// reassembly. The first segments of the window have it: what is dropped or not taken comes again. So the parts of the
// one that all wait for stay until it is whole. Otherwise segments that are sent by turns would displace each other for
// ever.
func (p *peer) beginPartial(seq uint32, size int) int {
	most := max(p.e.cfg.Reassembly/4, MaxMTU)
	for len(p.partials) > 0 && (p.parted+size > most || len(p.partials) == mostOpen) {
		k := p.lastPartial()
		if after(seq, p.partials[k].seq) {
			return none
		}
		p.e.pool.giveBuffer(p.takePartial(k))
	}
	p.parted += size
	p.partials = append(p.partials, partial{seq: seq, left: units(size), buf: p.e.pool.takeBuffer(size)})
	return len(p.partials) - 1
}

// lastPartial is the entry of the last segment in the window; there is one.
func (p *peer) lastPartial() (last int) {
	for k := range p.partials {
		if after(p.partials[k].seq, p.partials[last].seq) {
			last = k
		}
	}
	return last
}

// takePartial removes an entry and returns its buffer.
func (p *peer) takePartial(k int) []byte {
	b := p.partials[k].buf
	p.parted -= len(b)
	p.partials = slices.Delete(p.partials, k, k+1)
	return b
}
