// Package tablebench measures hashtable.Table and alternative maps with one loop: every goroutine posts a window of
// distinct keys and then matches them.
package tablebench

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/golci/golci/hashtable"
)

const (
	// Entries is the size of the tables: 2^16 buckets.
	Entries = 1 << 16
	// Window is the number of keys a goroutine has in the table at a time.
	Window = 256
)

// Errors of Run and Cross.
var (
	ErrImpl       = errors.New("tablebench: no such implementation")
	ErrGoroutines = errors.New("tablebench: bad number of goroutines")
	errMismatch   = errors.New("tablebench: a match returned the wrong item")
)

type node = hashtable.Node[uint64]

// matcher is what the measured structures have in common: add n, or take out what is there.
type matcher interface {
	insertOrMatch(key uint64, n *node, side hashtable.Side) *node
}

// Impls lists the implementations that Run and Cross know.
func Impls() []string { return []string{"golci", "mutexmap", "syncmap", "xsync"} }

// Run measures an operation (a post or a match) of impl, with goroutines goroutines that each use keys of their own,
// for about d. It returns the processor time of one operation in ns: elapsed time, times the goroutines that can run
// at once, divided by all operations. It blocks for that time.
func Run(impl string, goroutines int, d time.Duration) (nsPerOp float64, err error) {
	return measure(impl, goroutines, d, RunN)
}

// Cross is Run for pairs of goroutines, one of which posts while the other matches. goroutines must be even.
func Cross(impl string, goroutines int, d time.Duration) (nsPerOp float64, err error) {
	return measure(impl, goroutines, d, CrossN)
}

// measure looks for the number of operations that takes about d.
func measure(impl string, goroutines int, d time.Duration, run func(string, int, int) (time.Duration, error)) (float64, error) {
	for n := 16 * Window; ; {
		took, err := run(impl, goroutines, n)
		if err != nil {
			return 0, err
		}
		if took >= d*3/4 || n > 1<<40 {
			return PerOp(took, goroutines, n), nil
		}
		growth := 1.1 * float64(d) / float64(max(took, time.Microsecond))
		n = int(float64(n)*min(max(growth, 1.5), 100)) + Window
	}
}

// PerOp returns the processor time of an operation in ns, when goroutines goroutines did n each in the time took.
func PerOp(took time.Duration, goroutines, n int) float64 {
	procs := min(goroutines, runtime.GOMAXPROCS(0))
	return float64(took.Nanoseconds()) * float64(procs) / float64(goroutines*n)
}

// RunN lets each goroutine do n operations as in Run, and returns the time it took.
func RunN(impl string, goroutines, n int) (time.Duration, error) {
	return own(impl, goroutines, n, workload{window: Window, keys: Entries / 8})
}

// SweepN is RunN with keys that are used only once. So each goroutine walks over the whole table, and finds most
// lines in another core's cache.
func SweepN(impl string, goroutines, n int) (time.Duration, error) {
	return own(impl, goroutines, n, workload{window: Window, keys: 1 << tagBits})
}

// FullN is RunN with as many keys at a time as the table has buckets, shared evenly by the goroutines.
func FullN(impl string, goroutines, n int) (time.Duration, error) {
	k := max(1, Entries/max(1, goroutines))
	return own(impl, goroutines, n, workload{window: k, keys: k})
}

// own runs w in goroutines with keys of their own: different sources in the upper bits.
func own(impl string, goroutines, n int, w workload) (time.Duration, error) {
	m, err := newMatcher(impl)
	if err != nil {
		return 0, err
	}
	if goroutines < 1 {
		return 0, fmt.Errorf("%w: %d", ErrGoroutines, goroutines)
	}
	return timed(goroutines, func(g int) error { return w.run(m, uint64(g)<<tagBits, n) })
}

// timed runs f in goroutines that start together, and returns the time until the last ends.
func timed(goroutines int, f func(g int) error) (time.Duration, error) {
	var wg sync.WaitGroup
	var ready sync.WaitGroup
	start := make(chan struct{})
	errs := make([]error, goroutines)
	ready.Add(goroutines)
	for g := range goroutines {
		wg.Go(func() {
			ready.Done()
			<-start
			errs[g] = f(g)
		})
	}
	ready.Wait()
	begin := time.Now()
	close(start)
	wg.Wait()
	return time.Since(begin), errors.Join(errs...)
}
