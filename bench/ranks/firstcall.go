package ranks

import (
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/golci/golci/bench"
)

// FirstCall is the benchmark of one probe after computing. Its rows are FirstCall, and firstControl for a system call
// in its place.
const (
	FirstCall    = "firstcall"
	firstControl = FirstCall + "-control"
)

const (
	computing  = 2 * time.Millisecond // before each call
	leastCalls = 25
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

// firstCalls makes its rows on the first two ranks, as bench/peers/first.c does. Every rank calls it.
func (e *env) firstCalls(c Config) error {
	if e.size < 2 {
		return ErrRanks
	}
	n := max(c.iterations(0, leastCalls, leastCalls), int(c.Window/computing))
	probe := func() error {
		_, _, err := e.comm.Iprobe(1-e.rank, tagData)
		return err
	}
	for _, f := range []struct {
		name string
		call func() error
	}{{FirstCall, probe}, {firstControl, func() error { os.Getppid(); return nil }}} {
		row := bench.Row{Bench: f.name, Impl: bench.Golci, Threads: 1, Unit: bench.Micro, MinShare: 1}
		if err := e.measured(row, func(r *bench.Row) (err error) {
			if e.rank < 2 {
				r.Value, err = medianOfCalls(n, f.call)
			}
			return err
		}); err != nil {
			return err
		}
	}
	return nil
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
