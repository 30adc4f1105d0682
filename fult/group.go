package fult

import (
	"fmt"

	"github.com/golci/golci/internal/spin"
)

// Barrier lets a fixed number of callers go on together, again and again.
type Barrier struct {
	mu   spin.Lock // guards what follows
	n    int
	here int
	q    waitq
	whom []Waiter // scratch for the last to come
}

// NewBarrier makes a barrier for n callers; n below 1 is an error that wraps ErrArgument.
func NewBarrier(n int) (*Barrier, error) {
	if n < 1 {
		return nil, fmt.Errorf("fult: barrier of %d: %w", n, ErrArgument)
	}
	return &Barrier{n: n}, nil
}

// Wait blocks until n callers are in it; me is the caller, nil for a plain goroutine. One of them gets true. It may switch threads or block.
func (b *Barrier) Wait(me Waiter) (last bool) {
	b.mu.Lock()
	b.here++
	if b.here == b.n {
		b.release(me)
		return true
	}
	me = orGoroutine(me)
	e := b.q.push(me)
	b.mu.Unlock()
	killed := e.await(me)
	b.mu.Lock()
	if !e.granted.Load() {
		b.q.remove(e)
		b.here--
	}
	b.q.recycle(e)
	b.mu.Unlock()
	if killed {
		me.Wait() // unwinds
	}
	return false
}

// release opens the barrier. Called with mu held, and releases it.
func (b *Barrier) release(me Waiter) {
	b.here = 0
	whom := b.q.grantAll(b.whom[:0])
	b.whom = nil // the next round may fill up while this one still signals
	b.mu.Unlock()
	for i, who := range whom {
		signalFrom(me, who)
		whom[i] = nil
	}
	b.mu.Lock()
	b.whom = whom
	b.mu.Unlock()
}

// WaitGroup waits for a number of things to be done. The zero value has none. It must not be copied.
type WaitGroup struct {
	mu spin.Lock // guards what follows
	n  int
	q  waitq
}

// Add adds n, which may be negative; when the sum becomes 0 all that wait go on. me is the caller, or nil. A sum below 0
// is an error that wraps ErrArgument, and leaves the group as it was. It does not block or switch threads.
func (g *WaitGroup) Add(me Waiter, n int) error {
	g.mu.Lock()
	if g.n+n < 0 {
		g.mu.Unlock()
		return fmt.Errorf("fult: wait group below zero: %w", ErrArgument)
	}
	g.n += n
	var whom []Waiter
	if g.n == 0 {
		whom = g.q.grantAll(nil)
	}
	g.mu.Unlock()
	for _, who := range whom {
		signalFrom(me, who)
	}
	return nil
}

// Done is Add(me, -1).
func (g *WaitGroup) Done(me Waiter) error { return g.Add(me, -1) }

// Wait blocks until the sum is 0; me is the caller, nil for a plain goroutine. It may switch threads or block.
func (g *WaitGroup) Wait(me Waiter) {
	g.mu.Lock()
	if g.n == 0 {
		g.mu.Unlock()
		return
	}
	me = orGoroutine(me)
	e := g.q.push(me)
	g.mu.Unlock()
	killed := e.await(me)
	g.mu.Lock()
	if !e.granted.Load() {
		g.q.remove(e)
	}
	g.q.recycle(e)
	g.mu.Unlock()
	if killed {
		me.Wait() // unwinds
	}
}
