package comm

import (
	"sync/atomic"

	"github.com/golci/golci/internal/arch"
	"github.com/golci/golci/internal/invariants"
	"github.com/golci/golci/internal/spin"
)

// opPool holds the ops that are not in use. It grows with the operations that are pending at once.
//
// Beside the common stack some goroutines have a cache of their own, which they use without any atomic operation: no
// other goroutine runs under the same identity at the same time. A cache belongs to the first goroutine that asks for
// it, for good; whoever finds its place taken uses the stack.
type opPool struct {
	mu  spin.Lock
	top *op // linked through free; under mu
	_   [48]byte

	caches [opCaches]opCache
}

const (
	logOpCaches = 4
	opCaches    = 1 << logOpCaches
	opsCached   = 62 // so that a cache is whole lines
)

type opCache struct {
	owner atomic.Uintptr // the goroutine, or 0; set once
	n     int            // of ops in use; both are the owner's
	ops   [opsCached]*op
}

// place is the only cache that goroutine g may have.
func (p *opPool) place(g uintptr) *opCache {
	return &p.caches[uint64(g)*0x9E3779B97F4A7C15>>(64-logOpCaches)]
}

// mine is the cache of the calling goroutine, nil if it has none. The race detector does not see that one goroutine
// ends before another runs under its identity, so under it there are no caches.
func (p *opPool) mine() *opCache {
	g := arch.G()
	c := p.place(g)
	if c.owner.Load() != g || invariants.Race {
		return nil
	}
	return c
}

func (p *opPool) claim() {
	g := arch.G()
	if c := p.place(g); c.owner.Load() == 0 {
		c.owner.CompareAndSwap(0, g)
	}
}

// getOp gives an op that nobody else knows.
func (s *Server) getOp() *op {
	c := s.ops.mine()
	if c != nil && c.n > 0 {
		c.n--
		return c.ops[c.n]
	}
	if o := s.ops.pop(c); o != nil {
		return o
	}
	o := newOp(s)
	o.home = -1
	return o
}

// pop takes one op for the caller, and some more for its cache.
func (p *opPool) pop(c *opCache) *op {
	if c == nil {
		p.claim()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.take()
	for c != nil && c.n < opsCached/2 && p.top != nil {
		c.ops[c.n] = p.take()
		c.n++
	}
	return o
}

func (p *opPool) take() *op {
	o := p.top
	if o != nil {
		p.top, o.free = o.free, nil
	}
	return o
}

// putOp ends the use of o, which nobody else may know any more.
func (s *Server) putOp(o *op) {
	o.role = roleFree
	o.gen++
	o.data, o.err, o.alloc = nil, nil, nil
	o.word.Free()
	c := s.ops.mine()
	if c != nil && c.n < opsCached {
		c.ops[c.n] = o
		c.n++
		return
	}
	s.ops.push(c, o)
}

// push gives one op back, and half of a full cache.
func (p *opPool) push(c *opCache, o *op) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.give(o)
	for c != nil && c.n > opsCached/2 {
		c.n--
		p.give(c.ops[c.n])
	}
}

func (p *opPool) give(o *op) { p.top, o.free = o, p.top }
