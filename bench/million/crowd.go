package million

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi"
)

// last is the message that ends a thread.
const last = math.MaxUint64

// crowd is the threads of one rank. Thread i receives under tag i from the other rank.
type crowd struct {
	comm    *mpi.Comm
	sched   *fult.Scheduler
	peer    int
	in      [][1]uint64 // thread i alone uses in[i]
	handles []fult.Handle

	begun  atomic.Int64  // threads that are about to receive
	served atomic.Int64  // messages received by all threads together
	all    chan struct{} // gets a token when served has come to a multiple of the threads, so at the end of each round
	failed bench.Failures
	rounds uint64 // begun so far; of the goroutine that called Run
}

func newCrowd(p *mpi.Proc, n int) *crowd {
	return &crowd{
		comm: p.World(), sched: p.Threads(), peer: 1 - p.World().Rank(),
		in: make([][1]uint64, n), handles: make([]fult.Handle, 0, n),
		all: make(chan struct{}, 1), failed: make(bench.Failures, 1),
	}
}

func (c *crowd) start() error {
	workers := c.sched.Workers()
	for i := range c.in {
		h, err := c.sched.GoOn(i%workers, func(*fult.Thread) { c.failed.Note(c.receive(i)) })
		if err != nil {
			return fmt.Errorf("thread %d of %d: %w", i, len(c.in), err)
		}
		c.handles = append(c.handles, h)
	}
	return nil
}

// receive is thread i: message number k of a thread has the value k.
func (c *crowd) receive(i int) error {
	buf := c.in[i][:]
	c.begun.Add(1)
	for want := uint64(1); ; want++ {
		if _, err := mpi.Recv(c.comm, buf, c.peer, i); err != nil {
			return err
		}
		if buf[0] != want {
			return unwanted(i, buf[0], want)
		}
		if c.served.Add(1)%int64(len(c.in)) == 0 {
			c.all <- struct{}{} // has room: the round before has been waited for
		}
	}
}

// unwanted is the end of a thread, by the last message or by a wrong one. It is apart from receive because whatever
// that has on its stack counts a million times.
//
//go:noinline
func unwanted(i int, got, want uint64) error {
	if got == last {
		return nil
	}
	return fmt.Errorf("%w: thread %d has %d, want %d", ErrPayload, i, got, want)
}

const lookEvery = 10 * time.Millisecond

// blocked returns when every thread of both ranks waits in its receive.
func (c *crowd) blocked() error {
	for c.begun.Load() < int64(len(c.in)) || c.waiting() < len(c.in) {
		if err := c.failed.Pause(lookEvery); err != nil {
			return err
		}
	}
	return c.comm.Barrier()
}

// waiting counts the threads that wait. Of goroutines, as under the race detector, only the runtime knows.
func (c *crowd) waiting() (n int) {
	for t := range c.sched.Threads() {
		if s := t.State(); s == fult.Waiting || s == fult.Unknown {
			n++
		}
	}
	return n
}

// round serves every thread of both ranks once, and returns the time from when both were ready until all are served.
func (c *crowd) round() (time.Duration, error) {
	if err := c.comm.Barrier(); err != nil {
		return 0, err
	}
	c.rounds++
	start := time.Now()
	if err := c.serve(c.rounds); err != nil {
		return 0, err
	}
	select {
	case <-c.all:
	case err := <-c.failed:
		return 0, err
	}
	err := c.comm.Barrier()
	return time.Since(start), err
}

// serve sends value to every thread of the other rank, from one thread on each worker.
func (c *crowd) serve(value uint64) error {
	workers := c.sched.Workers()
	servers := make([]fult.Handle, workers)
	errs := make([]error, workers)
	for w := range servers {
		var err error
		servers[w], err = c.sched.GoOn(w, func(*fult.Thread) { errs[w] = c.send(w, workers, value) })
		if err != nil {
			return err
		}
	}
	var joined []error
	for _, h := range servers {
		joined = append(joined, h.Join())
	}
	return errors.Join(append(joined, errs...)...)
}

func (c *crowd) send(first, step int, value uint64) error {
	out := []uint64{value}
	for i := first; i < len(c.in); i += step {
		if err := mpi.Send(c.comm, out, c.peer, i); err != nil {
			return err
		}
	}
	return nil
}

// end tells every thread to return, and waits for them.
func (c *crowd) end() error {
	if err := c.serve(last); err != nil {
		return err
	}
	for _, h := range c.handles {
		if err := h.Join(); err != nil {
			return err
		}
	}
	select {
	case err := <-c.failed:
		return err
	default:
		return nil
	}
}

// collection is what one rank saw of a garbage collection.
type collection struct {
	took   time.Duration
	pause  time.Duration // of it, with all threads stopped
	served int64         // messages meanwhile
}

// collect collects garbage in both ranks while rounds go on, until both have done.
func (c *crowd) collect() (collection, error) {
	var col collection
	over := make(chan struct{})
	half := c.served.Load() + int64(len(c.in))/10
	go func() {
		defer close(over)
		for c.served.Load() < half && len(c.failed) == 0 {
			time.Sleep(time.Millisecond)
		}
		col = c.collectNow()
	}()
	for {
		if _, err := c.round(); err != nil {
			return col, err
		}
		mine := 0
		select {
		case <-over:
			mine = 1
		default:
		}
		if both, err := mpi.AllreduceOne(c.comm, mine, mpi.Sum); err != nil || both == 2 {
			return col, err
		}
	}
}

func (c *crowd) collectNow() collection {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	served, start := c.served.Load(), time.Now()
	runtime.GC()
	col := collection{took: time.Since(start), served: c.served.Load() - served}
	runtime.ReadMemStats(&after)
	col.pause = time.Duration(after.PauseTotalNs - before.PauseTotalNs)
	return col
}
