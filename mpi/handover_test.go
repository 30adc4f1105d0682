package mpi

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/internal/platform/invariants"
)

// TestHandOverToWorker has a goroutine drive, asleep in the conduit, and a worker sleep behind it. When the goroutine's
// wait is over and it leaves, the worker must take over, or the thread's message is never seen.
func TestHandOverToWorker(t *testing.T) {
	asleep := make(chan error, 1) // rank 1 is in the state that the test is about
	left := make(chan struct{})   // the goroutine has left, and the worker sleeps again
	must(t, 2, func(c *Comm) error {
		if c.Rank() == 0 {
			if err := <-asleep; err != nil {
				return err
			}
			if err := Send(c, []byte{1}, 1, 1); err != nil { // for the goroutine, which leaves
				return err
			}
			<-left
			return Send(c, []byte{2}, 1, 2) // for the thread
		}
		goes := make(chan error, 1)
		go func() {
			_, err := Recv(c, make([]byte, 1), 0, 1)
			goes <- err
		}()
		if err := until("the goroutine sleeps", func() bool { return sleeps(c.Proc()) }); err != nil {
			asleep <- err
			return err
		}
		var threadErr error
		h, err := c.Proc().Go(func() { _, threadErr = Recv(c, make([]byte, 1), 0, 2) })
		if err != nil {
			asleep <- err
			return err
		}
		if !invariants.Race { // whose threads have no workers
			untilPending(c, 2)
			err = until("the worker sleeps", func() bool { return workerSleeps(c.Proc()) })
		}
		if asleep <- err; err != nil {
			return err
		}
		if err := <-goes; err != nil {
			return err
		}
		err = until("somebody sleeps in the goroutine's place", func() bool { return sleeps(c.Proc()) })
		close(left)
		if err != nil {
			return err
		}
		if err := h.Join(); err != nil {
			return err
		}
		return threadErr
	}, WithWorkers(1))
}

// until polls for a state.
func until(what string, is func() bool) error {
	for end := time.Now().Add(patience / 4); !is(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			return fmt.Errorf("not so: %s", what)
		}
	}
	return nil
}

// sleeps says whether somebody sleeps in the conduit of p: only one can.
func sleeps(p *Proc) bool { return !p.core().OfRank().Conduit().Sleep(0, func() bool { return true }) }

// workerSleeps says whether the worker of p has gone to sleep.
func workerSleeps(p *Proc) bool {
	var b strings.Builder
	_ = p.Threads().Dump(&b) // a Builder takes everything
	return strings.Contains(b.String(), "worker 0 asleep")
}
