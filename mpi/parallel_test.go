package mpi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/fult"
)

// TestParallel: all threads run at once, and their errors are joined in order.
func TestParallel(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		const n = 300
		p := c.Proc()
		var ran atomic.Int64
		b, err := fult.NewBarrier(n)
		if err != nil {
			return err
		}
		err = p.Parallel(n, func(i int) error {
			b.Wait(nil)
			ran.Add(1)
			switch i {
			case 7, 211:
				return fmt.Errorf("%w in %d", errBoom, i)
			case 100:
				panic(errBoom)
			}
			return nil
		})
		var first *ThreadError
		var panicked *fult.PanicError
		if !errors.As(err, &first) || first.Thread != 7 || !errors.Is(err, errBoom) || !errors.As(err, &panicked) || ran.Load() != n {
			return fmt.Errorf("%d ran, got %v", ran.Load(), err)
		}
		text := err.Error()
		if a, b, c := strings.Index(text, "thread 7: boom in 7"), strings.Index(text, "thread 100: "), strings.Index(text, "thread 211: boom in 211"); a != 0 || b < a || c < b {
			return fmt.Errorf("got %v", err)
		}
		if err := p.Parallel(0, func(int) error { return errBoom }); err != nil {
			return err
		}
		return errors.Join(
			wants(ErrArgument, p.Parallel(-1, func(int) error { return nil })), wants(ErrArgument, p.Parallel(1, nil)),
			wants(fult.ErrGoexit, p.Parallel(2, func(i int) error { return leaveAt(i) })),
			inThread(c, func() error { // a thread may start threads
				return wants(errBoom, p.Parallel(3, func(int) error { return errBoom }))
			}))
	})
}

func leaveAt(i int) error {
	if i == 1 {
		runtime.Goexit()
	}
	return nil
}

// TestParallelContext: the first failure ends the context of the others, whose errors are left out; so does the end
// of the caller's.
func TestParallelContext(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		p := c.Proc()
		wait := func(ctx context.Context) error { return second(RecvContext(ctx, c, one(), AnySource, 1)) }
		for _, fail := range []func() error{func() error { return errBoom }, func() error { panic(errBoom) }} {
			err := p.ParallelContext(context.Background(), 50, func(ctx context.Context, i int) error {
				if i == 20 {
					return fail()
				}
				return wait(ctx)
			})
			var e *ThreadError
			if !errors.Is(err, errBoom) || !errors.As(err, &e) || e.Thread != 20 || errors.Is(err, ErrCancelled) {
				return fmt.Errorf("got %v", err)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		err := p.ParallelContext(ctx, 10, func(ctx context.Context, _ int) error { return wait(ctx) })
		if !errors.Is(err, context.DeadlineExceeded) || strings.Count(err.Error(), "thread ") != 10 {
			return fmt.Errorf("got %v", err)
		}
		return nil
	})
}

// TestParallelTooMany: if not all threads may be alive at once, none is started. So threads that would wait for those
// that are missing cannot hang. As many as allowed can be started afterwards.
func TestParallelTooMany(t *testing.T) {
	const most = 8
	must(t, 1, func(c *Comm) error {
		for _, n := range []int{most + 1, 20, math.MaxInt} {
			var started atomic.Int32
			err := c.Proc().ParallelContext(context.Background(), n, func(ctx context.Context, _ int) error {
				started.Add(1)
				fult.Recv(nil, ctx.Done())
				return nil
			})
			if started.Load() != 0 {
				return fmt.Errorf("%d of %d threads were started", started.Load(), n)
			}
			if live := c.Proc().Threads().Live(); live != 0 {
				return fmt.Errorf("%d threads are left", live)
			}
			if err := wants(fult.ErrTooMany, err); err != nil {
				return err
			}
		}
		return c.Proc().Parallel(most, func(int) error { return nil })
	}, WithThreads(most), WithWorkers(1))
}

// TestParallelAfterTheEnd gives an error.
func TestParallelAfterTheEnd(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		if err := c.Proc().Finalize(); err != nil {
			return err
		}
		return wants(ErrFinalized, c.Proc().Parallel(1, func(int) error { return nil }))
	})
}
