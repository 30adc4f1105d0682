// Package poolbench measures pool.Pool and its alternatives with one loop: every goroutine gets a packet and puts it
// back.
package poolbench

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/golci/golci/pool"
)

// Packets is the number of packets in all.
const Packets = 1024

// Errors of Run.
var (
	ErrImpl       = errors.New("poolbench: no such implementation")
	ErrGoroutines = errors.New("poolbench: bad number of goroutines")
	errEmpty      = errors.New("poolbench: pool is empty")
)

// packet stands for a packet. The loop does not touch it: with a shared pool that would cost the crossing of its
// lines on top of what is measured.
type packet [256]byte

// Impls lists the implementations that Run knows: golci is pool.Pool with a sub-pool a goroutine, onelock the same with
// one for all, stack the lock-free one.
func Impls() []string { return []string{"golci", "onelock", "stack", "channel", "syncpool"} }

// Run measures a pair of get and put of impl in goroutines goroutines for about d. It returns the processor time of
// one pair in ns: elapsed time, times the goroutines that can run at once, divided by all pairs. It blocks for that
// time.
func Run(impl string, goroutines int, d time.Duration) (nsPerOp float64, err error) {
	for n := 4096; ; {
		took, err := RunN(impl, goroutines, n)
		if err != nil {
			return 0, err
		}
		if took >= d*3/4 || n > 1<<40 {
			return PerOp(took, goroutines, n), nil
		}
		growth := 1.1 * float64(d) / float64(max(took, time.Microsecond))
		n = int(float64(n) * min(max(growth, 1.5), 100))
	}
}

// PerOp returns the processor time of a pair in ns, when goroutines goroutines did n each in the time took.
func PerOp(took time.Duration, goroutines, n int) float64 {
	procs := min(goroutines, runtime.GOMAXPROCS(0))
	return float64(took.Nanoseconds()) * float64(procs) / float64(goroutines*n)
}

// RunN lets each goroutine do n pairs as in Run, and returns the time it took.
func RunN(impl string, goroutines, n int) (time.Duration, error) {
	if goroutines < 1 || goroutines > Packets {
		return 0, fmt.Errorf("%w: %d, allowed 1 to %d", ErrGoroutines, goroutines, Packets)
	}
	pairs, err := newPairs(impl, goroutines)
	if err != nil {
		return 0, err
	}
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	errs := make([]error, goroutines)
	ready.Add(goroutines)
	for g := range goroutines {
		done.Go(func() {
			ready.Done()
			<-start
			errs[g] = pairs(g, n)
		})
	}
	ready.Wait()
	begin := time.Now()
	close(start)
	done.Wait()
	return time.Since(begin), errors.Join(errs...)
}

// newPairs makes a pool, and returns the loop of one goroutine over it: n pairs by goroutine g. Each loop calls its
// pool directly.
func newPairs(impl string, goroutines int) (func(g, n int) error, error) {
	switch impl {
	case "golci":
		return poolPairs(goroutines)
	case "onelock":
		return poolPairs(1)
	case "stack":
		return stackPairs()
	case "channel":
		return channelPairs(), nil
	case "syncpool":
		return syncPoolPairs(), nil
	}
	return nil, fmt.Errorf("%w: %q, have %v", ErrImpl, impl, Impls())
}

func poolPairs(workers int) (func(g, n int) error, error) {
	p, err := pool.New(pool.Options[packet]{
		Workers: workers,
		Limit:   Packets,
		Initial: Packets,
		New:     func() *packet { return new(packet) },
	})
	return func(g, n int) error {
		g %= workers
		for range n {
			k := p.Get(g)
			if k == nil {
				return errEmpty
			}
			p.Put(g, k)
		}
		return nil
	}, err
}

func stackPairs() (func(g, n int) error, error) {
	s, err := pool.NewStack[packet](Packets)
	return func(_, n int) error {
		for range n {
			e := s.Pop()
			if e == nil {
				return errEmpty
			}
			s.Push(e)
		}
		return nil
	}, err
}

func channelPairs() func(g, n int) error {
	c := make(chan *packet, Packets)
	for range Packets {
		c <- new(packet)
	}
	return func(_, n int) error {
		for range n {
			k := <-c
			c <- k
		}
		return nil
	}
}

// syncPoolPairs measures what is no rival: sync.Pool neither bounds the packets nor keeps them over a collection.
func syncPoolPairs() func(g, n int) error {
	p := sync.Pool{New: func() any { return new(packet) }}
	return func(_, n int) error {
		for range n {
			k := p.Get().(*packet)
			p.Put(k)
		}
		return nil
	}
}
