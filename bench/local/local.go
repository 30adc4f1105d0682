// Package local has the benchmarks without messages: the thread switch, the table and the pool. Each runs beside its
// rivals, with the same loop for all.
package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/crossing"
)

// ErrThreads says that a benchmark cannot run with so many threads.
var ErrThreads = errors.New("local: bad number of threads")

// Measure runs one implementation for about d and returns ns per operation.
type measure func(impl string, threads int, d time.Duration) (float64, error)

type benchmark struct {
	impls   []string // golci first
	measure measure
}

// Names lists the benchmarks of this package.
func Names() []string {
	names := make([]string, 0, len(benchmarks))
	for n := range benchmarks {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Run measures the named benchmark with each number of threads, implementations interleaved, and hands every row to
// out. It blocks; between two measurements it looks at ctx.
func Run(ctx context.Context, name string, threads []int, d time.Duration, out func(bench.Row)) error {
	b, ok := benchmarks[name]
	if !ok {
		return fmt.Errorf("local: no benchmark %q; there are %q", name, Names())
	}
	for _, n := range threads {
		for _, impl := range b.impls {
			if err := ctx.Err(); err != nil {
				return err
			}
			row := bench.Row{Bench: name, Impl: impl, Threads: n, Unit: bench.Nano, MinShare: 1}
			before := crossing.Here()
			value, err := b.measure(impl, n, d)
			if err != nil {
				return fmt.Errorf("local: %s, %s, %d threads: %w", name, impl, n, err)
			}
			row.Value = value
			row.SetCrossing(before, crossing.Here())
			out(row)
		}
	}
	return nil
}
