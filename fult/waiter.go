package fult

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Waiter lets its owner wait for a permit. Every call that can block takes one.
type Waiter interface {
	// Wait waits for a permit and takes it. It may return without one, so test again. Only the owner may call it.
	Wait()
	// Signal gives the permit. Several calls before a Wait give one permit. Any goroutine or thread may call it. The
	// caller's earlier stores are visible after the Wait. It does not block or switch threads.
	Signal()
}

// Goroutine is a Waiter for a plain goroutine, which the Go runtime parks.
type Goroutine struct {
	state atomic.Uint32
	wake  chan struct{} // one buffered token: given by the Signal that finds state waiting
}

const (
	none uint32 = iota
	permit
	waiting
)

// NewGoroutine returns a Waiter for one goroutine at a time.
func NewGoroutine() *Goroutine { return &Goroutine{wake: make(chan struct{}, 1)} }

// Wait blocks the goroutine until a Signal.
func (g *Goroutine) Wait() {
	if g.state.CompareAndSwap(none, waiting) {
		<-g.wake
	}
	// Now there is a permit. The exchange also acquires what a second signaller published.
	g.state.Swap(none)
}

// Signal gives the permit.
func (g *Goroutine) Signal() {
	if g.state.Swap(permit) == waiting {
		g.wake <- struct{}{}
	}
}

// OSThread is a Waiter for a goroutine that is locked to its OS thread. It uses a condition variable.
type OSThread struct {
	mu     sync.Mutex
	cond   sync.Cond
	permit bool // guarded by mu
}

// NewOSThread locks the calling goroutine to its OS thread and returns a Waiter for it. Release ends that lock.
func NewOSThread() *OSThread {
	runtime.LockOSThread()
	return newOSThread()
}

func newOSThread() *OSThread {
	o := &OSThread{}
	o.cond.L = &o.mu
	return o
}

// Release unlocks the calling goroutine from its OS thread. Only the goroutine that has called NewOSThread may call it.
func (o *OSThread) Release() { runtime.UnlockOSThread() }

// Wait blocks the OS thread until a Signal.
func (o *OSThread) Wait() {
	o.mu.Lock()
	for !o.permit {
		o.cond.Wait()
	}
	o.permit = false
	o.mu.Unlock()
}

// Signal gives the permit.
func (o *OSThread) Signal() {
	o.mu.Lock()
	o.permit = true
	o.mu.Unlock()
	o.cond.Signal()
}

// parkAt waits at x. It returns true if x is a thread that Abort or Close ends meanwhile. Then x.Wait unwinds.
func parkAt(x Waiter) (killed bool) {
	if t, ok := x.(*Thread); ok {
		return t.parkThread()
	}
	x.Wait()
	return false
}
