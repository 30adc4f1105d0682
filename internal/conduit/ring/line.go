package ring

import (
	"unsafe"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/arch"
	"github.com/golci/golci/internal/invariants"
)

var _ conduit.LineSender = (*Endpoint)(nil)

// SendLine implements conduit.LineSender. It serves rings that the peer scans.
func (e *Endpoint) SendLine(peer int, first, second, third uint64, data []byte) bool {
	if uint(peer) >= uint(len(e.out)) || e.fails.Has(peer) {
		return false
	}
	o := e.out[peer]
	if o == nil {
		return false
	}
	e.leave()
	if !o.prod.putLine(first, second, third, data) {
		return false
	}
	if invariants.Enabled || o.seg.talking.Load()&(1<<o.index) == 0 || o.seg.bell.Load() != 0 {
		o.announce()
	}
	if o.prod.dirty() {
		o.prod.cleanAhead()
	}
	return true
}

// putLine publishes a record of one line in few steps. That needs room by what was last seen of the consumer, and a
// clear first word of the line behind. No wrap may come. The order of its stores is that of publish.
func (p *Producer) putLine(first, second, third uint64, data []byte) bool {
	off, tail := p.off, p.tail+Line
	if int(tail-p.seen) > p.lines || off >= len(p.data)-Line || p.recent != 0 || int64(p.clean-tail) < Line ||
		p.open > Line || len(data) > conduit.LineBytes {
		return false
	}
	line := (*[Line / 8]uint64)(unsafe.Pointer(&p.data[off]))
	line[1], line[2] = second, third
	if len(data) == 8 {
		line[3] = *(*uint64)(unsafe.Pointer(unsafe.SliceData(data))) // without a call
	} else {
		copy(p.data[off+24:off+Line], data)
	}
	arch.StoreRel64(p.word(off), first)
	p.tail, p.off, p.open, p.skip = tail, off+Line, 0, 0
	return true
}
