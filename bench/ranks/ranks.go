// Package ranks has the benchmarks between ranks. They use the loops of the OSU benchmarks of the same purpose, and
// the public API at its default settings. The C programs in bench/peers do the same, step by step.
package ranks

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/crossing"
	"github.com/golci/golci/mpi"
)

// Errors of Run, for errors.Is.
var (
	ErrName  = errors.New("ranks: no such benchmark")
	ErrRanks = errors.New("ranks: too few ranks")
)

// Config names a benchmark and what to vary.
type Config struct {
	Bench   string
	Sizes   []int          // bytes
	Threads []int          // in each process, for threads and Million
	Window  time.Duration  // least length of a timed loop
	Ends    *crossing.Ends // of the job
	quick   bool           // a hundredth of the iterations: for tests that look at what is done, not how fast
}

// large is the size above which the OSU programs take fewer iterations.
const large = 8192

// env is what every loop works on. It belongs to the goroutine that called Run.
type env struct {
	proc       *mpi.Proc
	comm       *mpi.Comm
	rank, size int
	send, recv []byte // as long as the largest message
	ends       *crossing.Ends
	out        func(bench.Row) // on rank 0
}

// Run is called by every rank with the same arguments and blocks until all is measured. Rank 0's out gets the rows.
func Run(p *mpi.Proc, c Config, out func(bench.Row)) error {
	world := p.World()
	e := &env{proc: p, comm: world, rank: world.Rank(), size: world.Size(), ends: c.Ends, out: out}
	most := slices.Max(slices.Concat(c.Sizes, []int{64}))
	e.send, e.recv = make([]byte, most), make([]byte, most)
	if err := e.run(c); err != nil {
		return fmt.Errorf("ranks: %s: %w", c.Bench, err)
	}
	return nil
}

func (e *env) run(c Config) error {
	if c.Bench == "threads" || c.Bench == Million {
		for _, n := range c.Threads {
			var err error
			if c.Bench == Million {
				err = e.million(n)
			} else {
				err = e.threads(n, c.Window)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if c.Bench == FirstCall {
		return e.firstCalls(c)
	}
	if start, ok := starts[c.Bench]; ok {
		return e.overlaps(c, start)
	}
	for _, size := range c.Sizes {
		if err := e.sized(c, size); err != nil {
			return fmt.Errorf("size %d: %w", size, err)
		}
	}
	return nil
}

func (e *env) sized(c Config, size int) error {
	if p, ok := pairs[c.Bench]; ok {
		return e.pair(c, p, size)
	}
	if call, ok := collectives[c.Bench]; ok {
		return e.collective(c, call, size)
	}
	switch c.Bench {
	case Tail:
		return e.tail(c, size)
	case Asserts:
		return e.asserts(c, size)
	}
	return ErrName
}

// iterations is the fewest that a timed loop makes, given the OSU programs' numbers.
func (c Config) iterations(size, small, big int) int {
	n := small
	if size > large {
		n = big
	}
	if c.quick {
		n /= 100
	}
	return max(1, n)
}

// measured puts the crossing times around f, which fills in the rest of the row, and hands the row out on rank 0.
func (e *env) measured(row bench.Row, f func(*bench.Row) error) error {
	return bench.Between(e.crossing, func() ([]bench.Row, error) {
		err := f(&row)
		return []bench.Row{row}, err
	}, func(r bench.Row) {
		if e.rank == 0 {
			e.out(r)
		}
	})
}

// crossing is called by every rank; rank 0 gets ns one way. It blocks, and ranks 0 and 1 spin for a few ms.
func (e *env) crossing() (float64, error) {
	if err := e.comm.Barrier(); err != nil {
		return 0, err
	}
	ns := e.ends.Measure()
	return ns, e.comm.Barrier()
}

// timed makes a row of a loop, which returns the value of n iterations. A first pass chooses how many fill the window.
func (e *env) timed(c Config, size, least int, unit string, loop func(n int) (float64, error)) error {
	start := time.Now()
	if _, err := loop(least); err != nil {
		return err
	}
	n, err := e.agree(time.Since(start), least, c.Window)
	if err != nil {
		return err
	}
	row := bench.Row{Bench: c.Bench, Impl: bench.Golci, Size: size, Threads: 1, Unit: unit, MinShare: 1}
	return e.measured(row, func(r *bench.Row) (err error) {
		r.Value, err = loop(n)
		return err
	})
}

// agree turns rank 0's time of the fewest iterations into those of the timed loop, the same number on every rank.
func (e *env) agree(took time.Duration, least int, window time.Duration) (int, error) {
	n := max(least, int(min(1e9, float64(window)*float64(least)/float64(max(1, took)))))
	return mpi.BcastOne(e.comm, n, 0)
}
