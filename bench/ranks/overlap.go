package ranks

import (
	"errors"
	"fmt"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi"
)

// starts begin a collective that does not wait.
var starts = map[string]func(e *env, size int) func() (mpi.Request, error){
	"ibcast": func(e *env, size int) func() (mpi.Request, error) {
		return func() (mpi.Request, error) { return mpi.Ibcast(e.comm, e.send[:size], 0) }
	},
	"iallreduce": func(e *env, size int) func() (mpi.Request, error) {
		in, out := make([]float32, size/floatSize), make([]float32, size/floatSize)
		return func() (mpi.Request, error) { return mpi.Iallreduce(e.comm, in, out, mpi.Sum) }
	},
	"iallgather": func(e *env, size int) func() (mpi.Request, error) {
		in, out := make([]byte, size), make([]byte, size*e.size)
		return func() (mpi.Request, error) { return mpi.Iallgather(e.comm, in, out) }
	},
	"ialltoall": func(e *env, size int) func() (mpi.Request, error) {
		in, out := make([]byte, size*e.size), make([]byte, size*e.size)
		return func() (mpi.Request, error) { return mpi.Ialltoall(e.comm, in, out) }
	},
}

// overlaps measures all sizes, with each number of threads.
func (e *env) overlaps(c Config, start func(*env, int) func() (mpi.Request, error)) error {
	for _, size := range c.Sizes {
		for _, threads := range c.Threads {
			if err := e.overlap(c, start(e, size), size, threads); err != nil {
				return fmt.Errorf("size %d: %w", size, err)
			}
		}
	}
	return nil
}

// overlap reports which part of a collective is hidden behind computing that takes as long, as the OSU benchmarks of
// non-blocking collectives do: 100 % is all. With one thread the caller starts, computes and waits. With two, one
// thread of the rank waits while another one computes, and yields now and then.
func (e *env) overlap(c Config, start func() (mpi.Request, error), size, threads int) error {
	o := &overlapping{e: e, start: start, rate: calibrate()}
	n := c.iterations(size, 200, 50)
	row := bench.Row{Bench: c.Bench, Impl: bench.Golci, Size: size, Threads: threads, Unit: bench.Hidden, MinShare: 1}
	compute := o.alone
	if threads > 1 {
		compute = o.beside
	}
	if _, err := o.rounds(n/10+1, o.pure); err != nil {
		return err
	}
	return e.measured(row, func(r *bench.Row) error {
		pure, err := o.rounds(n, o.pure)
		if err != nil {
			return err
		}
		o.work = int(float64(pure.Nanoseconds()) * o.rate)
		begun := time.Now()
		for range n {
			burn(o.work)
		}
		computing := time.Since(begun) / time.Duration(n)
		both, err := o.rounds(n, compute)
		if err != nil {
			return err
		}
		share := 1 - float64(both-computing)/float64(pure)
		sum, err := mpi.AllreduceOne(e.comm, min(1, max(0, share)), mpi.Sum)
		r.Value = 100 * sum / float64(e.size)
		return err
	})
}

// overlapping is one measurement.
type overlapping struct {
	e     *env
	start func() (mpi.Request, error)
	rate  float64 // turns of burn in a nanosecond
	work  int     // turns to compute
}

// rounds gives the mean time of one of n rounds. A barrier before each keeps the ranks together.
func (o *overlapping) rounds(n int, round func() error) (time.Duration, error) {
	var sum time.Duration
	for range n {
		if err := o.e.comm.Barrier(); err != nil {
			return 0, err
		}
		begun := time.Now()
		if err := round(); err != nil {
			return 0, err
		}
		sum += time.Since(begun)
	}
	return sum / time.Duration(n), nil
}

func (o *overlapping) pure() error {
	r, err := o.start()
	if err != nil {
		return err
	}
	_, err = r.Wait()
	return err
}

func (o *overlapping) alone() error {
	r, err := o.start()
	if err != nil {
		return err
	}
	burn(o.work)
	_, err = r.Wait()
	return err
}

// yields is in how many pieces a thread computes beside another one.
const yields = 100

func (o *overlapping) beside() error {
	busy, err := o.e.proc.Threads().Go(func(t *fult.Thread) {
		for range yields {
			burn(o.work / yields)
			t.Yield()
		}
	})
	if err != nil {
		return err
	}
	var failed error
	waits, err := o.e.proc.Threads().Go(func(*fult.Thread) { failed = o.pure() })
	if err == nil {
		err = waits.Join()
	}
	return errors.Join(err, busy.Join(), failed)
}

// burned keeps the compiler from leaving burn out.
var burned float64

// burn computes for n turns.
func burn(n int) {
	x := burned
	for range n {
		x = x*0.999999 + 1
	}
	burned = x
}

// calibrate measures how many turns of burn there are in a nanosecond.
func calibrate() float64 {
	const turns = 1 << 20
	best := time.Hour
	for range 5 {
		begun := time.Now()
		burn(turns)
		best = min(best, time.Since(begun))
	}
	return turns / float64(best.Nanoseconds())
}
