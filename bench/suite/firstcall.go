package suite

import (
	"runtime"
	"slices"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/crossing"
	"github.com/golci/golci/mpi"
)

// The names of the rows: one probe after computing, and a call of no message passing in its place.
const (
	firstCall        = "firstcall"
	firstCallControl = firstCall + "-control"
)

const (
	computing  = 2 * time.Millisecond // before each call
	leastCalls = 25
	firstTag   = 1
)

// compute keeps the processor busy, and makes no system call.
func compute() {
	x := 1.0
	for start := time.Now(); time.Since(start) < computing; {
		for range 1000 {
			x = x*1.0000001 + 1e-9
		}
	}
	runtime.KeepAlive(x)
}

// firstCalls makes the rows of firstcall on the first two ranks, as bench/peers/first.c does. Every rank calls it.
func firstCalls(p *mpi.Proc, ends *crossing.Ends, window time.Duration, out func(bench.Row)) error {
	c := p.World()
	n := max(leastCalls, int(window/computing))
	probe := func() error {
		_, _, err := c.Iprobe(1-c.Rank(), firstTag)
		return err
	}
	if err := firstRow(c, ends, firstCall, n, probe, out); err != nil {
		return err
	}
	return firstRow(c, ends, firstCallControl, n, emptyCall, out)
}

func firstRow(
	c *mpi.Comm, ends *crossing.Ends, name string, n int, call func() error, out func(bench.Row),
) error {
	cross := func() (float64, error) {
		if err := c.Barrier(); err != nil {
			return 0, err
		}
		ns := ends.Measure()
		return ns, c.Barrier()
	}
	return bench.Between(cross, func() ([]bench.Row, error) {
		row := bench.Row{Bench: name, Impl: bench.Golci, Threads: 1, Unit: bench.Micro, MinShare: 1}
		var err error
		if c.Rank() < 2 {
			row.Value, err = medianOfCalls(n, call)
		}
		return []bench.Row{row}, err
	}, func(r bench.Row) {
		if c.Rank() == 0 {
			out(r)
		}
	})
}

// medianOfCalls is the median of the times of n calls in us, each after computing.
func medianOfCalls(n int, call func() error) (float64, error) {
	all := make([]time.Duration, n)
	for i := range all {
		compute()
		start := time.Now()
		if err := call(); err != nil {
			return 0, err
		}
		all[i] = time.Since(start)
	}
	slices.Sort(all)
	return float64(all[n/2]) / float64(time.Microsecond), nil
}
