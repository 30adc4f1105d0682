package ring

import (
	"unsafe"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/platform/invariants"
)

var _ conduit.Injector = (*Endpoint)(nil)

// Inject implements conduit.Injector. It serves rings that the peer scans.
func (e *Endpoint) Inject(peer int, first, second, third uint64, data []byte) bool {
	if uint(peer) >= uint(len(e.out)) || e.fails.Has(peer) {
		return false
	}
	o := e.out[peer]
	if o == nil {
		return false
	}
	e.leaveTo()
	if !o.prod.inject(first, second, third, data) {
		return false
	}
	if invariants.Enabled || o.seg.senders.Load()&(1<<o.index) == 0 || o.seg.bell.Load() != 0 {
		o.announce()
	}
	if o.prod.dirty() {
		o.prod.cleanAhead()
	}
	return true
}

// injectHeader is the length of the three words before the data.
const injectHeader = 3 * conduit.WordBytes

// inject publishes a short record in few steps. That needs room by what was last seen of the consumer, and a clear
// first word of the line behind. No wrap may come. The order of its stores is that of publish.
func (p *Producer) inject(first, second, third uint64, data []byte) bool {
	n := (injectHeader + len(data) + Line - 1) &^ (Line - 1)
	off, tail := p.off, p.tail+uint64(n)
	if int(tail-p.seen) > p.inUse || off >= len(p.data)-n || p.recent != 0 || int64(p.clean-tail) < Line ||
		p.open > Line || len(data) > p.injected {
		return false
	}
	line := (*[Line / 8]uint64)(unsafe.Pointer(&p.data[off]))
	line[1], line[2] = second, third
	if len(data) == 8 {
		line[3] = *(*uint64)(unsafe.Pointer(unsafe.SliceData(data))) // without a call
	} else {
		copy(p.data[off+injectHeader:off+n], data)
	}
	arch.StoreRel64(p.wordAt(off), first)
	p.tail, p.off, p.open, p.skip = tail, off+n, 0, 0
	return true
}
