package local

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/fult"
)

// handOvers let pairs of threads pass a permit back and forth, all on one core.
var handOvers = []contender{
	{bench.Golci, overPairs(threadPairs(fult.Fult))},
	{"goroutine", overPairs(threadPairs(fult.Goroutines))},
	{"osthread", overPairs(threadPairs(fult.OSThreads))},
	{"channel", overPairs(goPairs(newChannels))},
	{"sync.Cond", overPairs(goPairs(newConds))},
}

// A pingPong is one pair of threads that hand a permit to and fro. ping and pong each run on a thread of their own.
type pingPong interface {
	ping(rounds int)
	pong(rounds int)
}

// overPairs has so many pairs hand over, n times from each thread. Of 1,024 threads 512 are always runnable.
func overPairs(run func(pairs, rounds int) (time.Duration, error)) func(threads, n int) (time.Duration, error) {
	return func(threads, n int) (time.Duration, error) {
		if threads%2 != 0 {
			return 0, fmt.Errorf("%w: %d, switch needs an even number", ErrThreads, threads)
		}
		return run(threads/2, n)
	}
}

// goPairs runs pairs on goroutines of one P, so that each hand-over is a switch on one core, as it is for golci.
func goPairs(create func() pingPong) func(pairs, rounds int) (time.Duration, error) {
	return func(pairs, rounds int) (time.Duration, error) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		all := make([]pingPong, pairs)
		for i := range all {
			all[i] = create()
		}
		return together(2*pairs, func(i int) error {
			if i%2 == 0 {
				all[i/2].ping(rounds)
			} else {
				all[i/2].pong(rounds)
			}
			return nil
		})
	}
}

type channels struct{ there, back chan struct{} }

func newChannels() pingPong { return channels{make(chan struct{}), make(chan struct{})} }

func (c channels) ping(rounds int) {
	for range rounds {
		c.there <- struct{}{}
		<-c.back
	}
}

func (c channels) pong(rounds int) {
	for range rounds {
		<-c.there
		c.back <- struct{}{}
	}
}

type conds struct {
	mu          sync.Mutex
	there, back sync.Cond
	turn        bool // true: pong's; protected by mu
}

func newConds() pingPong {
	c := &conds{}
	c.there.L, c.back.L = &c.mu, &c.mu
	return c
}

func (c *conds) ping(rounds int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range rounds {
		c.turn = true
		c.there.Signal()
		for c.turn {
			c.back.Wait()
		}
	}
}

func (c *conds) pong(rounds int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range rounds {
		for !c.turn {
			c.there.Wait()
		}
		c.turn = false
		c.back.Signal()
	}
}
