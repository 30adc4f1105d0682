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
// non-blocking collectives do: 100 % is all. All ranks compute for as long as the collective takes the slowest of them.
// With one thread the caller starts, computes and waits. With two, one thread of the rank waits while another one
// computes, and yields now and then; what it costs to start the other one is no part of what is to be hidden.
func (e *env) overlap(c Config, start func() (mpi.Request, error), size, threads int) error {
	o := &overlapping{e: e, start: start, rate: calibrate(), n: c.iterations(size, 200, 50)}
	row := bench.Row{Bench: c.Bench, Impl: bench.Golci, Size: size, Threads: threads, Unit: bench.Hidden, MinShare: 1}
	o.round = o.alone
	if threads > 1 {
		o.round = o.beside
	}
	return e.measured(row, func(r *bench.Row) (err error) {
		if threads == 1 {
			r.Value, err = o.measure()
			return err
		}
		h, err := e.proc.Threads().Go(func(*fult.Thread) { r.Value, err = o.measure() })
		if err != nil {
			return err
		}
		if failed := h.Join(); failed != nil { // err is set when this has returned
			return failed
		}
		return err
	})
}

// measure gives the mean of the hidden parts of all ranks in percent.
func (o *overlapping) measure() (float64, error) {
	o.work = 0
	if _, err := o.rounds(o.n/10 + 1); err != nil {
		return 0, err
	}
	pure, err := o.rounds(o.n)
	if err != nil {
		return 0, err
	}
	o.work = int(float64(pure.Nanoseconds()) * o.rate)
	begun := time.Now()
	for range o.n {
		burn(o.work)
	}
	computing := time.Since(begun) / time.Duration(o.n)
	both, err := o.rounds(o.n)
	if err != nil {
		return 0, err
	}
	hidden := min(1, max(0, 1-float64(both-computing)/float64(pure)))
	sum, err := mpi.AllreduceOne(o.e.comm, hidden, mpi.Sum)
	return 100 * sum / float64(o.e.size), err
}

// overlapping is one measurement.
type overlapping struct {
	e     *env
	start func() (mpi.Request, error)
	round func() error
	n     int     // rounds
	rate  float64 // turns of burn in a nanosecond
	work  int     // turns to compute
}

// rounds gives the mean time of one of n rounds, on the rank where that is longest. A barrier before each keeps the
// ranks together.
func (o *overlapping) rounds(n int) (time.Duration, error) {
	var sum time.Duration
	for range n {
		if err := o.e.comm.Barrier(); err != nil {
			return 0, err
		}
		begun := time.Now()
		if err := o.round(); err != nil {
			return 0, err
		}
		sum += time.Since(begun)
	}
	longest, err := mpi.AllreduceOne(o.e.comm, int64(sum), mpi.Max)
	return time.Duration(longest) / time.Duration(n), err
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
	r, err := o.start()
	if err == nil {
		_, err = r.Wait()
	}
	return errors.Join(err, busy.Join())
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
