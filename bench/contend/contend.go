// Package contend has goroutines of one process use one structure together, for benchmarks of package testing.
package contend

import (
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/bench/crossing"
)

// Start runs f in goroutines that start together. It returns the time until the last one ends.
func Start(goroutines int, f func(i int) error) (time.Duration, error) {
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

// Run reports what run takes, in which each of so many threads makes b.N operations. The metric is the processor time
// of an operation: the time, times the threads that can run at once, divided by all operations. With one core run uses
// one at a time. The crossings before and after stand beside it.
func Run(b *testing.B, threads int, oneCore bool, run func(n int) (time.Duration, error)) {
	before, err := crossing.Here()
	took, failed := run(b.N)
	after, err2 := crossing.Here()
	if err := errors.Join(failed, err, err2); err != nil {
		b.Fatal(err)
	}
	procs := min(threads, runtime.GOMAXPROCS(0))
	if oneCore {
		procs = 1
	}
	b.ReportMetric(float64(took.Nanoseconds())*float64(procs)/float64(threads*b.N), "ns/op")
	b.ReportMetric(before, "crossing-before-ns")
	b.ReportMetric(after, "crossing-after-ns")
}
