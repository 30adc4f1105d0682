package fult

import "sync/atomic"

// Counter takes many signals and wakes its one waiter once: for "all of n" it is reset to n, for "any of n" to 1. A
// plain Signal cannot do that, because several of them may be one.
type Counter struct {
	left atomic.Int64 // the signaller that brings it to 0 wakes who; it also publishes the signallers' stores
	who  Waiter       // constant between two Resets
}

// Reset makes c ready for n signals to me, the waiter, nil for a plain goroutine. Signals of an earlier round must all have come.
func (c *Counter) Reset(me Waiter, n int) {
	c.who = orGoroutine(me)
	c.left.Store(int64(n))
}

// Signal counts one. Signals beyond the number are harmless. Callable from anywhere; does not block or switch threads.
func (c *Counter) Signal() {
	who := c.who // before the count: afterwards the waiter may reset c
	if c.left.Add(-1) == 0 {
		who.Signal()
	}
}

// SignalOn is Signal for callers that run on w, cheaper if the waiter is a thread of w.
func (c *Counter) SignalOn(w *Worker) {
	who := c.who
	if c.left.Add(-1) == 0 {
		w.wakeWaiter(who)
	}
}

// Left returns how many signals are missing; at or below 0 the wait is over.
func (c *Counter) Left() int { return int(c.left.Load()) }

// Wait blocks until the signals have come. Only the waiter given to Reset calls it. It may switch threads or block.
func (c *Counter) Wait() {
	for c.left.Load() > 0 {
		c.who.Wait()
	}
}
