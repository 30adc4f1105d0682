package fult

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Waiter is one place to wait: a permit that is there or not. Whatever can block takes one.
type Waiter interface {
	// Wait blocks until there is a permit, and takes it. It may return without one: look at the condition again. Only
	// the owner of the Waiter calls it.
	Wait()
	// Signal gives the permit; several before a Wait are one. Callable from anywhere. What the caller stored before is
	// visible after the Wait.
	Signal()
}

// Goroutine is a Waiter for a plain goroutine: it parks by the Go runtime.
type Goroutine struct {
	state atomic.Uint32
	wake  chan struct{} // one buffered token: given by the Signal that finds state waiting
}

const (
	none uint32 = iota
	permit
	waiting
)

// NewGoroutine returns a Waiter for a goroutine to use, one at a time.
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

// OSThread is a Waiter for a goroutine locked to its OS thread, with a condition variable: the POSIX threads of seed 3.
type OSThread struct {
	mu     sync.Mutex
	cond   sync.Cond
	permit bool // guarded by mu
}

// NewOSThread locks the calling goroutine to its OS thread and returns a Waiter for it. Release undoes the lock.
func NewOSThread() *OSThread {
	runtime.LockOSThread()
	return newOSThread()
}

func newOSThread() *OSThread {
	o := &OSThread{}
	o.cond.L = &o.mu
	return o
}

// Release unlocks the calling goroutine, which must be the one that called NewOSThread, from its OS thread.
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

// parkAt waits at x. If x is a thread that Close ends meanwhile it returns true: the caller takes itself out of
// whatever it has queued in and then calls x.Wait, which unwinds.
func parkAt(x Waiter) (killed bool) {
	if t, ok := x.(*Thread); ok {
		return t.park()
	}
	x.Wait()
	return false
}
