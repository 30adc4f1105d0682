package reliable

import (
	"cmp"
	"math/bits"
	"slices"
)

// mostOpen is the most long messages of one peer that are not complete: chunks of further ones are refused, and come
// again.
const mostOpen = 256

// incoming is a long message of which some chunks have arrived.
type incoming struct {
	frag uint32
	tag  uint8
	left int
	buf  []byte
	have []span // what has come, in order, none next to another
}

// span is the bytes of a message from one place up to another.
type span struct{ from, to uint32 }

// fit tells whether the bytes of s have not come yet, and before which span they lie. An honest sender's window is too
// small for more than mostSpans.
func (in *incoming) fit(s span) (i int, ok bool) {
	i, _ = slices.BinarySearchFunc(in.have, s, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	ok = (i == 0 || in.have[i-1].to <= s.from) && (i == len(in.have) || s.to <= in.have[i].from)
	return i, ok && len(in.have) < mostSpans
}

const mostSpans = Window

// noteSpan adds what fits before span i.
func (in *incoming) noteSpan(s span, i int) {
	before := i > 0 && in.have[i-1].to == s.from
	behind := i < len(in.have) && s.to == in.have[i].from
	switch {
	case before && behind:
		in.have[i-1].to = in.have[i].to
		in.have = slices.Delete(in.have, i, i+1)
	case before:
		in.have[i-1].to = s.to
	case behind:
		in.have[i].from = s.from
	default:
		in.have = slices.Insert(in.have, i, s)
	}
}

func (p *peer) findFrag(frag uint32) int {
	for i, in := range p.open {
		if in.frag == frag {
			return i
		}
	}
	return none
}

// admitChunk tells whether a chunk fits what is known of its message, or whether there is memory to begin it.
func (p *peer) admitChunk(r *record) verdict {
	if i := p.findFrag(r.frag); i != none {
		in := p.open[i]
		if int(r.size) != len(in.buf) || r.tag != in.tag {
			return malformed
		}
		if _, ok := in.fit(r.span()); !ok {
			return malformed
		}
		return welcome
	}
	c := &p.e.cfg
	switch {
	case int64(r.size) > int64(c.MaxMessage):
		return malformed
	case p.held+int(r.size) > c.Reassembly || len(p.open) == mostOpen:
		return refused
	case p.held > 0 && p.e.held+int(r.size) > c.Memory:
		return refused
	}
	return welcome
}

// span is the place of a chunk, which ends within the message.
func (r *record) span() span { return span{uint32(r.offset), uint32(r.offset) + uint32(len(r.data))} }

// chunk puts a chunk in its place. No byte comes twice, so their count tells when the message is complete.
func (p *peer) chunk(r *record) {
	i := p.findFrag(r.frag)
	if i == none {
		i = len(p.open)
		p.beginMessage(r)
	}
	in := p.open[i]
	s := r.span()
	at, _ := in.fit(s)
	in.noteSpan(s, at)
	copy(in.buf[r.offset:], r.data)
	if int(r.offset)+len(r.data) == len(in.buf) {
		p.ackAtOnce()
	}
	if in.left -= len(r.data); in.left > 0 {
		return
	}
	last := len(p.open) - 1
	p.open[i], p.open[last] = p.open[last], in
	p.open = p.open[:last]
	p.holdMemory(-len(in.buf))
	buf, tag := in.buf, in.tag
	in.buf = nil
	p.e.cfg.Sink.Message(p.id, tag, buf)
	p.e.pool.giveBuffer(buf)
}

// beginMessage opens a message; entries behind the end of open are used again.
func (p *peer) beginMessage(r *record) {
	n := len(p.open)
	if n < cap(p.open) && p.open[:n+1][n] != nil {
		p.open = p.open[:n+1]
	} else {
		p.open = append(p.open, new(incoming))
	}
	have := p.open[n].have[:0]
	*p.open[n] = incoming{frag: r.frag, tag: r.tag, left: int(r.size), buf: p.e.pool.takeBuffer(int(r.size)), have: have}
	p.holdMemory(int(r.size))
}

// holdMemory counts memory of messages that are not complete.
func (p *peer) holdMemory(n int) {
	p.held += n
	p.e.held += n
}

// pool keeps buffers of messages for the next ones, by the logarithm of their size.
type pool struct {
	free [33][][]byte
	kept int // bytes
	most int
}

func class(n int) int { return bits.Len(uint(n - 1)) }

func (l *pool) takeBuffer(n int) []byte {
	c := class(n)
	if k := len(l.free[c]); k > 0 {
		b := l.free[c][k-1]
		l.free[c] = l.free[c][:k-1]
		l.kept -= cap(b)
		return b[:n]
	}
	return make([]byte, n, 1<<c)
}

// giveBuffer takes a buffer back, unless enough are kept.
func (l *pool) giveBuffer(b []byte) {
	if l.kept+cap(b) > l.most {
		return
	}
	c := class(cap(b))
	l.free[c] = append(l.free[c], b)
	l.kept += cap(b)
}
