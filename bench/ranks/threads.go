package ranks

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/mpi"
)

const last = math.MaxUint64

// pairState is what one thread works on: one cache line, so that threads of different workers share none.
type pairState struct {
	trips atomic.Uint64 // written by its thread, read by the main goroutine while the window is open
	out   [1]uint64
	in    [1]uint64
	_     [40]byte
}

type crowd struct {
	env    *env
	states []pairState
	stop   atomic.Bool // set by the main goroutine of rank 0
	failed bench.Failures
	ended  chan struct{} // closed when all have ended well
}

// threads lets n threads of rank 0 ping-pong 8 bytes with their twins in rank 1, thread i under tag i. It counts the
// messages of both directions in a window of length d. The window opens when every thread has made a round trip.
func (e *env) threads(n int, d time.Duration) error {
	if e.size != 2 {
		return fmt.Errorf("%w: threads needs two, not %d", ErrRanks, e.size)
	}
	c := &crowd{env: e, states: make([]pairState, n), failed: make(bench.Failures, 1), ended: make(chan struct{})}
	row := bench.Row{Bench: "threads", Impl: bench.Golci, Size: 8, Threads: n, Unit: bench.PerSecond}
	return e.measured(row, func(r *bench.Row) error {
		go c.run()
		if e.rank == 0 {
			if err := c.count(r, d); err != nil {
				return err
			}
			c.stop.Store(true)
		}
		return c.wait()
	})
}

// run runs the threads. If one fails the others may wait for ever, so that failure is told at once.
func (c *crowd) run() {
	body := c.follow
	if c.env.rank == 0 {
		body = c.lead
	}
	if err := c.env.proc.Parallel(len(c.states), func(i int) error {
		err := body(i)
		c.failed.Note(err)
		return err
	}); err != nil {
		c.failed.Note(err)
		return
	}
	close(c.ended)
}

func (c *crowd) wait() error {
	select {
	case err := <-c.failed:
		return err
	case <-c.ended:
		return nil
	}
}

func (c *crowd) lead(tag int) error {
	s := &c.states[tag]
	for i := uint64(0); !c.stop.Load(); i++ {
		s.out[0] = i
		if err := mpi.Send(c.env.comm, s.out[:], 1, tag); err != nil {
			return err
		}
		if _, err := mpi.Recv(c.env.comm, s.in[:], 1, tag); err != nil {
			return err
		}
		if s.in[0] != i {
			return fmt.Errorf("%w: thread %d has %d, want %d", ErrPayload, tag, s.in[0], i)
		}
		arch.StoreRel64(&s.trips, i+1)
	}
	s.out[0] = last
	return mpi.Send(c.env.comm, s.out[:], 1, tag)
}

func (c *crowd) follow(tag int) error {
	s := &c.states[tag]
	for i := uint64(0); ; i++ {
		if _, err := mpi.Recv(c.env.comm, s.in[:], 0, tag); err != nil {
			return err
		}
		if s.in[0] == last {
			return nil
		}
		if s.in[0] != i {
			return fmt.Errorf("%w: thread %d has %d, want %d", ErrPayload, tag, s.in[0], i)
		}
		s.out[0] = i
		if err := mpi.Send(c.env.comm, s.out[:], 0, tag); err != nil {
			return err
		}
	}
}

// beginning bounds the wait for each thread's first round trip: threads that have made none by then count as starved.
const beginning = 30 * time.Second

func (c *crowd) count(r *bench.Row, d time.Duration) error {
	for end := time.Now().Add(beginning); !c.allBegan() && time.Now().Before(end); {
		if err := c.failed.Pause(10 * time.Millisecond); err != nil {
			return err
		}
	}
	first := c.snapshot()
	start := time.Now()
	if err := c.failed.Pause(d); err != nil {
		return err
	}
	took := time.Since(start)
	second := c.snapshot()
	total, least := uint64(0), uint64(math.MaxUint64)
	for i := range second {
		made := second[i] - first[i]
		total += made
		least = min(least, made)
	}
	r.Value = 2 * float64(total) / took.Seconds()
	if total > 0 {
		r.MinShare = float64(least) * float64(len(second)) / float64(total)
	}
	return nil
}

func (c *crowd) allBegan() bool {
	for i := range c.states {
		if c.states[i].trips.Load() == 0 {
			return false
		}
	}
	return true
}

func (c *crowd) snapshot() []uint64 {
	counts := make([]uint64, len(c.states))
	for i := range c.states {
		counts[i] = c.states[i].trips.Load()
	}
	return counts
}
