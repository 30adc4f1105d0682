// Package local has the benchmarks without messages: thread switch, table and pool, each beside its rivals.
package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/crossing"
)

// ErrThreads says that a benchmark cannot run with so many threads.
var ErrThreads = errors.New("local: bad number of threads")

// contender is one implementation. run has each of so many threads do n operations, about, and returns the time from
// their common start to the end of the last.
type contender struct {
	impl string
	run  func(threads, n int) (time.Duration, error)
}

// benchmark compares its contenders, golci first.
type benchmark struct {
	contenders []contender
	serial     bool // one core does all
}

var benchmarks = map[string]benchmark{
	// An operation of switch is a hand-over: from one thread's signal to the next thread's run.
	"switch": {contenders: handOvers, serial: true},
	// Every goroutine posts a window of distinct keys and then matches them. An operation is a post or a match.
	"table": {contenders: workload{window: window, keys: entries / 8}.contenders()},
	// Every goroutine gets a packet and puts it back, which is an operation.
	"pool": {contenders: pools},
}

// Names lists the benchmarks of this package.
func Names() []string { return slices.Sorted(maps.Keys(benchmarks)) }

// Run measures the named benchmark with each number of threads, implementations interleaved, and hands every row to
// out. A value is the processor time of an operation. It blocks; between two measurements it looks at ctx.
func Run(ctx context.Context, name string, threads []int, d time.Duration, out func(bench.Row)) error {
	b, ok := benchmarks[name]
	if !ok {
		return fmt.Errorf("local: no benchmark %q; there are %q", name, Names())
	}
	for _, n := range threads {
		for _, c := range b.contenders {
			if err := ctx.Err(); err != nil {
				return err
			}
			row := bench.Row{Bench: name, Impl: c.impl, Threads: n, Unit: bench.Nano, MinShare: 1}
			err := bench.Between(crossing.Here, func() (_ []bench.Row, err error) {
				row.Value, err = b.measure(c, n, d)
				return []bench.Row{row}, err
			}, out)
			if err != nil {
				return fmt.Errorf("local: %s, %s, %d threads: %w", name, c.impl, n, err)
			}
		}
	}
	return nil
}

// measure looks for the number of operations that takes about d. A short first run says little, so it grows slowly.
func (b *benchmark) measure(c contender, threads int, d time.Duration) (float64, error) {
	if threads < 1 {
		return 0, fmt.Errorf("%w: %d", ErrThreads, threads)
	}
	for n := max(1, 4096/threads); ; {
		took, err := c.run(threads, n)
		if err != nil {
			return 0, err
		}
		if took >= d*3/4 || n > 1<<40 {
			return b.perOp(took, threads, n), nil
		}
		growth := 1.1 * float64(d) / float64(max(took, time.Microsecond))
		n = int(float64(n)*min(max(growth, 1.5), 100)) + 1
	}
}

// perOp is the processor time of an operation in ns, when so many threads did n each in the time took: that time, times
// the threads that can run at once, divided by all operations.
func (b *benchmark) perOp(took time.Duration, threads, n int) float64 {
	procs := min(threads, runtime.GOMAXPROCS(0))
	if b.serial {
		procs = 1
	}
	return float64(took.Nanoseconds()) * float64(procs) / float64(threads*n)
}

// together runs f in goroutines that start together, and returns the time until the last ends.
func together(goroutines int, f func(i int) error) (time.Duration, error) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	errs := make([]error, goroutines)
	ready.Add(goroutines)
	for i := range goroutines {
		done.Go(func() {
			ready.Done()
			<-start
			errs[i] = f(i)
		})
	}
	ready.Wait()
	begin := time.Now()
	close(start)
	done.Wait()
	return time.Since(begin), errors.Join(errs...)
}
