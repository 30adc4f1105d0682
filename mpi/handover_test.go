package mpi

import (
	"testing"
	"time"
)

// TestHandOverToWorker has a goroutine drive, asleep in the conduit, and a worker sleep behind it. When the goroutine's
// wait is over and it leaves, the worker must take over, or the thread's message is never seen.
func TestHandOverToWorker(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		if c.Rank() == 0 {
			time.Sleep(200 * time.Millisecond)               // by now both of rank 1 sleep
			if err := Send(c, []byte{1}, 1, 1); err != nil { // for the goroutine, which leaves
				return err
			}
			time.Sleep(200 * time.Millisecond)
			return Send(c, []byte{2}, 1, 2) // for the thread
		}
		goes := make(chan error, 1)
		go func() {
			_, err := Recv(c, make([]byte, 1), 0, 1)
			goes <- err
		}()
		time.Sleep(50 * time.Millisecond) // the goroutine sleeps in the source first
		var threadErr error
		h, err := c.Proc().Go(func() { _, threadErr = Recv(c, make([]byte, 1), 0, 2) })
		if err != nil {
			return err
		}
		if err := <-goes; err != nil {
			return err
		}
		if err := h.Join(); err != nil {
			return err
		}
		return threadErr
	})
}
