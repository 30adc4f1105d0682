package fult

import (
	"fmt"

	"github.com/golci/golci/internal/platform/spin"
)

// Barrier is a barrier for a fixed number of callers, for any number of rounds.
type Barrier struct {
	mu   spin.Lock // guards what follows
	n    int
	here int
	q    waitQueue
	whom []Waiter // scratch for the last to come
}

// NewBarrier makes a barrier for n callers. For n below 1 the error wraps ErrArgument.
func NewBarrier(n int) (*Barrier, error) {
	if n < 1 {
		return nil, fmt.Errorf("fult: barrier of %d: %w", n, ErrArgument)
	}
	return &Barrier{n: n}, nil
}

// Wait blocks until n callers have called it. me is the caller; nil stands for the calling thread or goroutine. The
// last caller gets true. It may switch threads or block.
func (b *Barrier) Wait(me Waiter) (last bool) {
	b.mu.Lock()
	b.here++
	if b.here == b.n {
		b.releaseAll(me)
		return true
	}
	me = orGoroutine(me)
	e := b.q.pushWaiter(me)
	b.mu.Unlock()
	killed := e.awaitGrant(me)
	b.mu.Lock()
	if !e.granted.Load() {
		b.q.removeEntry(e)
		b.here--
	}
	b.q.recycleEntry(e)
	b.mu.Unlock()
	if killed {
		me.Wait() // unwinds
	}
	return false
}

// releaseAll opens the barrier. The caller holds mu, and release unlocks it.
func (b *Barrier) releaseAll(me Waiter) {
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

// WaitGroup counts operations that have not ended, and lets callers wait for zero. It must not be copied.
type WaitGroup struct {
	mu spin.Lock // guards what follows
	n  int
	q  waitQueue
}

// Add adds n, which may be negative, to the count. A count of 0 wakes all callers of Wait. me is the caller, or nil. If
// the count would fall below 0, it stays and the error wraps ErrArgument. It does not block or switch threads.
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

// Wait blocks until the count is 0. me is the caller, or nil. It may switch threads or block.
func (g *WaitGroup) Wait(me Waiter) {
	g.mu.Lock()
	if g.n == 0 {
		g.mu.Unlock()
		return
	}
	me = orGoroutine(me)
	e := g.q.pushWaiter(me)
	g.mu.Unlock()
	killed := e.awaitGrant(me)
	g.mu.Lock()
	if !e.granted.Load() {
		g.q.removeEntry(e)
	}
	g.q.recycleEntry(e)
	g.mu.Unlock()
	if killed {
		me.Wait() // unwinds
	}
}
