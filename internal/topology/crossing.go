package topology

import (
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/golci/golci/internal/affinity"
	"github.com/golci/golci/internal/arch"
)

const (
	crossRounds  = 2000 // round trips in one batch
	crossBatches = 15
)

// line is a flag alone on two cache lines, because some processors fetch lines in pairs.
type line struct {
	v atomic.Uint64
	_ [120]byte
}

// Crossing measures the time from a store on CPU a to a load on CPU b that sees it, in nanoseconds. It is half of a
// round trip between two spinning threads, as the median of several batches. Crossing blocks the caller for some
// milliseconds, and keeps both CPUs busy meanwhile. It fails if a is b, if GOMAXPROCS is below 2, if a thread cannot
// be bound to one of the CPUs, and on systems other than Linux.
func Crossing(a, b int) (ns float64, err error) {
	if a == b {
		return 0, errors.New("golci: crossing needs two CPUs")
	}
	if runtime.GOOS != "linux" {
		return 0, errors.New("golci: crossing needs a system that binds threads to CPUs")
	}
	if runtime.GOMAXPROCS(0) < 2 {
		return 0, errors.New("golci: crossing needs GOMAXPROCS of at least 2")
	}
	var there, back line
	pinned := make(chan error, 2)
	start := make(chan bool)
	times := make(chan []float64, 2)
	go func() { times <- pingPong(a, &there.v, &back.v, true, pinned, start) }()
	go func() { times <- pingPong(b, &back.v, &there.v, false, pinned, start) }()
	err = errors.Join(<-pinned, <-pinned)
	start <- err == nil
	start <- err == nil
	all := append(<-times, <-times...)
	if err != nil {
		return 0, err
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

// pingPong plays one side. Its goroutine stays locked to the pinned thread, so the runtime ends that thread with it.
func pingPong(cpu int, out, in *atomic.Uint64, first bool, pinned chan<- error, start <-chan bool) []float64 {
	runtime.LockOSThread()
	pinned <- affinity.Set(cpu)
	if !<-start {
		return nil
	}
	var times []float64
	n := uint64(0)
	for range crossBatches {
		begin := time.Now()
		for range crossRounds {
			n++
			if first {
				arch.StoreRel64(out, n)
			}
			for in.Load() != n {
			}
			if !first {
				arch.StoreRel64(out, n)
			}
		}
		if first {
			times = append(times, float64(time.Since(begin).Nanoseconds())/(2*crossRounds))
		}
	}
	return times
}
