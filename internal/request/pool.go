package request

import (
	"sync/atomic"

	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/platform/spin"
)

// Pool holds operations that are not in use. It grows with the operations that are pending at once. The zero value is
// empty. Any goroutine may call its methods; none blocks.
//
// Some goroutines have a cache of their own beside the common stack. They use it without any atomic operation,
// because no other goroutine runs under the same identity at the same time. A cache belongs for good to the first
// goroutine that asks for it. A goroutine that finds its places taken uses the stack.
type Pool[T any] struct {
	mu    spin.Lock
	stack []*T // under mu
	_     [32]byte

	caches [caches]Cache[T]
}

const (
	logCaches = 4
	caches    = 1 << logCaches
	cached    = 126 // so that a cache is whole lines, and a window of 64 fits twice
	places    = 4   // caches that a goroutine looks at
)

// Cache is what one goroutine keeps. Its methods belong to that goroutine.
type Cache[T any] struct {
	owner atomic.Uintptr // the goroutine, or 0; set once
	n     int            // of ops in use; both are the owner's
	ops   [cached]*T
}

// firstPlace is the first cache that goroutine g may have.
func (p *Pool[T]) firstPlace(g uintptr) *Cache[T] { return &p.caches[placeOf(g)] }

func placeOf(g uintptr) uint64 { return uint64(g) * 0x9E3779B97F4A7C15 >> (64 - logCaches) }

// findCache is the cache of goroutine g. It claims a free one if g has none, and is nil if all its places are taken. A
// goroutine may only take, or only put back: both get many for one look at the common stack.
func (p *Pool[T]) findCache(g uintptr) *Cache[T] {
	for i := range uint64(places) {
		c := &p.caches[(placeOf(g)+i)%caches]
		switch owner := c.owner.Load(); {
		case owner == g:
			return c
		case owner == 0 && c.owner.CompareAndSwap(0, g):
			return c
		}
	}
	return nil
}

// isOwn tells whether c is the cache of goroutine g. The race detector does not see that one goroutine ends before
// another runs under its identity, so under it there are no caches.
func (c *Cache[T]) isOwn(g uintptr) bool { return c.owner.Load() == g && !invariants.Race }

// Mine is the cache of the calling goroutine at its first place, or nil.
func (p *Pool[T]) Mine() *Cache[T] {
	g := arch.G()
	if c := p.firstPlace(g); c.isOwn(g) {
		return c
	}
	return nil
}

// Put is that of the pool. False: the cache is full, and the pool has to take op.
func (c *Cache[T]) Put(op *T) bool {
	n := c.n
	if uint(n) >= cached {
		return false
	}
	c.ops[n] = op
	c.n = n + 1
	return true
}

// Get takes an operation that nobody else knows, nil if the pool is empty.
func (p *Pool[T]) Get() *T {
	g := arch.G()
	c := p.firstPlace(g)
	if c.isOwn(g) && c.n > 0 {
		c.n--
		return c.ops[c.n]
	}
	return p.popFrom(g)
}

// popFrom is Get where the first place of goroutine g does not serve. It fills the cache of g if that is empty.
func (p *Pool[T]) popFrom(g uintptr) *T {
	c := p.findCache(g)
	own := c != nil && c.isOwn(g)
	if own && c.n > 0 {
		c.n--
		return c.ops[c.n]
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	op := p.takeOp()
	for own && c.n < cached/2 && len(p.stack) > 0 {
		c.ops[c.n] = p.takeOp()
		c.n++
	}
	return op
}

func (p *Pool[T]) takeOp() *T {
	n := len(p.stack)
	if n == 0 {
		return nil
	}
	op := p.stack[n-1]
	p.stack = p.stack[:n-1]
	return op
}

// Put gives an operation back, which nobody else may know any more.
func (p *Pool[T]) Put(op *T) {
	g := arch.G()
	c := p.firstPlace(g)
	if c.isOwn(g) && c.Put(op) {
		return
	}
	p.pushTo(g, op)
}

// pushTo is Put where the first place of goroutine g does not serve. It empties half of the cache of g if that is full.
func (p *Pool[T]) pushTo(g uintptr, op *T) {
	c := p.findCache(g)
	own := c != nil && c.isOwn(g)
	if own && c.Put(op) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stack = append(p.stack, op)
	for own && c.n > cached/2 {
		c.n--
		p.stack = append(p.stack, c.ops[c.n])
	}
}
