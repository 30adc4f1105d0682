package mpi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/invariants"
)

// TestFinalizeCountsThreads: threads that wait for messages which nobody sends are left over, whether they have come
// to wait before Finalize is called or have not even started.
func TestFinalizeCountsThreads(t *testing.T) {
	const threads = 512
	rounds := 10
	if testing.Short() || invariants.Race {
		rounds = 2 // each Finalize waits for settleUnseen
	}
	for round := range rounds {
		for _, late := range []bool{false, true} {
			must(t, 1, func(c *Comm) error {
				for i := range threads {
					if _, err := c.Proc().Go(func() { _, _ = Recv(c, one(), 0, i) }); err != nil {
						return err
					}
				}
				if late {
					untilPending(c, threads)
				}
				err := c.Proc().Finalize()
				if !errors.Is(err, ErrPending) || !strings.Contains(err.Error(), fmt.Sprint(threads, " threads")) {
					return fmt.Errorf("round %d, late %v: %w", round, late, errors.Join(err, errBoom))
				}
				return nil
			})
		}
	}
}

// untilPending returns when n operations of c's rank wait.
func untilPending(c *Comm, n int) {
	for len(c.Proc().Server().Endpoint().Pending().Ops()) < n {
		time.Sleep(time.Millisecond)
	}
}

// TestFinalizeLetsThreadsEnd: threads that end by themselves are not left over, though nobody joins them, also if
// their last act wakes the caller of Finalize, or they compute for long.
func TestFinalizeLetsThreadsEnd(t *testing.T) {
	for _, x := range []struct {
		name            string
		threads, rounds int
		act             func(ch chan int, wg *sync.WaitGroup)
	}{
		{"wait group", 64, 20, func(_ chan int, wg *sync.WaitGroup) { wg.Done() }},
		{"channel", 64, 20, func(ch chan int, wg *sync.WaitGroup) {
			wg.Done()
			_ = fult.Send(nil, ch, 1)
		}},
		{"computes", 2, 2, func(_ chan int, wg *sync.WaitGroup) {
			wg.Done()
			spinFor(3 * 100 * time.Millisecond) // three times what Finalize waits for one that only waits
		}},
	} {
		for range x.rounds {
			must(t, 1, func(c *Comm) error {
				ch, wg := make(chan int), new(sync.WaitGroup)
				for range x.threads {
					wg.Add(1)
					if _, err := c.Proc().Go(func() { x.act(ch, wg) }); err != nil {
						return err
					}
				}
				wg.Wait()
				for range x.threads {
					if x.name == "channel" {
						<-ch
					}
				}
				if err := c.Proc().Finalize(); err != nil {
					return fmt.Errorf("%s: %w", x.name, err)
				}
				return nil
			}, WithWorkers(2))
		}
	}
}

func spinFor(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}

// TestFinalizeEndsSpinners: a thread that polls for ever, and gives way meanwhile, does not hold Finalize up.
func TestFinalizeEndsSpinners(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		_, err := c.Proc().Go(func() {
			for th := c.Proc().Threads().Current(); ; th.Yield() {
				if _, _, err := c.Iprobe(AnySource, AnyTag); err != nil {
					return
				}
			}
		})
		if err != nil {
			return err
		}
		if err := c.Proc().Finalize(); !errors.Is(err, ErrPending) || !strings.Contains(err.Error(), "1 thread ") {
			return fmt.Errorf("got %v", err)
		}
		return nil
	})
}

// TestFinalizeContext: when the context ends, Finalize ends with its cause, and names the rank or thread that it
// waited for.
func TestFinalizeContext(t *testing.T) {
	cause := errors.New("enough")
	ended := func(d time.Duration) (context.Context, context.CancelFunc) {
		return context.WithTimeoutCause(context.Background(), d, cause)
	}
	t.Run("rank", func(t *testing.T) {
		gate := make(chan struct{})
		err := job(t, 2, func(c *Comm) error {
			if c.Rank() == 1 {
				<-gate
				return nil
			}
			defer close(gate)
			r, err := Irecv(c, one(), 1, 5)
			if err != nil {
				return err
			}
			ctx, cancel := ended(20 * time.Millisecond)
			defer cancel()
			err = c.Proc().FinalizeContext(ctx)
			_, pending := r.Wait()
			return errors.Join(err, wants(ErrFinalized, pending), wants(ErrFinalized, c.Proc().Finalize()))
		})
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), "from rank 1") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("thread", func(t *testing.T) {
		must(t, 1, func(c *Comm) error {
			gate, started := make(chan struct{}), make(chan string, 1)
			h, err := c.Proc().Go(func() {
				started <- fmt.Sprint(fult.Current().ID())
				<-gate
			})
			if err != nil {
				return err
			}
			id := <-started
			ctx, cancel := ended(20 * time.Millisecond)
			defer cancel()
			err = c.Proc().FinalizeContext(ctx)
			close(gate)
			if !errors.Is(err, cause) || !errors.Is(err, ErrPending) || !strings.Contains(err.Error(), "1 thread has not ended, the first is thread "+id) {
				return errors.Join(fmt.Errorf("got %w", err), h.Join())
			}
			return h.Join()
		})
	})
	t.Run("none", func(t *testing.T) { // a context that does not end changes nothing
		must(t, 2, func(c *Comm) error {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if _, err := c.Proc().Go(func() { _, _ = Recv(c, one(), AnySource, 0) }); err != nil {
				return err
			}
			return wants(ErrPending, c.Proc().FinalizeContext(ctx))
		})
	})
}
