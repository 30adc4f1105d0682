// Package ranks has the benchmarks between ranks. They use the loops of the OSU benchmarks of the same purpose, and
// the public API at its default settings. The C programs in bench/peers do the same, step by step.
package ranks

import (
	"errors"
	"fmt"
	"time"

	"github.com/golci/golci/bench"
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
	Sizes   []int         // bytes
	Threads []int         // in each process, for threads
	Window  time.Duration // least length of a timed loop
	quick   bool          // a hundredth of the iterations: for tests that look at what is done, not how fast
}

// large is the size above which the OSU programs take fewer iterations.
const large = 8192

// env is what every loop works on. It belongs to the goroutine that called Run.
type env struct {
	proc       *mpi.Proc
	comm       *mpi.Comm
	rank, size int
	send, recv []byte // as long as the largest message
	line       line
	out        func(bench.Row) // on rank 0
}

// Run is called by every rank with the same arguments and blocks until the benchmark is done. On rank 0 out gets each
// row as it is measured.
func Run(p *mpi.Proc, c Config, out func(bench.Row)) error {
	world := p.World()
	e := &env{proc: p, comm: world, rank: world.Rank(), size: world.Size(), out: out}
	most := 64
	for _, size := range c.Sizes {
		most = max(most, size)
	}
	e.send, e.recv = make([]byte, most), make([]byte, most)
	if err := e.line.open(e); err != nil {
		return fmt.Errorf("ranks: %w", err)
	}
	defer e.line.close()
	if err := e.run(c); err != nil {
		return fmt.Errorf("ranks: %s: %w", c.Bench, err)
	}
	return nil
}

func (e *env) run(c Config) error {
	if c.Bench == "threads" {
		for _, n := range c.Threads {
			if err := e.threads(n, c.Window); err != nil {
				return err
			}
		}
		return nil
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

// agree turns a first measurement of rank 0 into the iterations of the timed loop, the same number on every rank.
func (e *env) agree(took time.Duration, done, least int, window time.Duration) (int, error) {
	n := []int64{int64(least)}
	if took > 0 {
		n[0] = max(n[0], int64(min(1e9, float64(window)*float64(done)/float64(took))))
	}
	err := mpi.Bcast(e.comm, n, 0)
	return int(n[0]), err
}
