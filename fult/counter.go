package fult

import "sync/atomic"

// Counter counts signals and wakes its only waiter at the last one. Reset it to n to wait for n signals, and to 1 to
// wait for the first. Plain signals cannot be counted, because several may count as one.
type Counter struct {
	left atomic.Int64 // the signaller that brings it to 0 wakes who; it also publishes the signallers' stores
	who  Waiter       // constant between two Resets
}

// Reset prepares c for n signals to the waiter me. A nil me stands for the calling thread or goroutine. All signals
// of the round before must have come. It does not block or switch threads.
func (c *Counter) Reset(me Waiter, n int) {
	c.who = orGoroutine(me)
	c.left.Store(int64(n))
}

// Signal counts one signal. More than the number are harmless. Any goroutine or thread may call it. It does not block.
func (c *Counter) Signal() {
	who := c.who // before the count: afterwards the waiter may reset c
	if c.left.Add(-1) == 0 {
		who.Signal()
	}
}

// Left returns the number of missing signals. At 0 or below the wait is over.
func (c *Counter) Left() int { return int(c.left.Load()) }

// Wait blocks until all signals have come. Only the waiter of Reset may call it. It may switch threads or block.
func (c *Counter) Wait() {
	for c.left.Load() > 0 {
		c.who.Wait()
	}
}
