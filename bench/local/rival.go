package local

import (
	"runtime"
	"sync"
	"time"
)

// A pingPong is one pair of threads that hand a permit to and fro. ping and pong each run on a thread of their own.
type pingPong interface {
	ping(rounds int)
	pong(rounds int)
}

// goPairs runs pairs on goroutines of one P, so that each hand-over is a switch on one core, as it is for golci.
func goPairs(pairs, rounds int, create func() pingPong) (time.Duration, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var wg sync.WaitGroup
	gate := newGate(2 * pairs)
	for range pairs {
		p := create()
		wg.Go(func() { gate.enter(); p.ping(rounds) })
		wg.Go(func() { gate.enter(); p.pong(rounds) })
	}
	start := gate.open()
	wg.Wait()
	return time.Since(start), nil
}

// gate lets all threads begin together, once all are there.
type gate struct {
	ready sync.WaitGroup
	start chan struct{}
}

func newGate(threads int) *gate {
	g := &gate{start: make(chan struct{})}
	g.ready.Add(threads)
	return g
}

func (g *gate) enter() {
	g.ready.Done()
	<-g.start
}

func (g *gate) open() time.Time {
	g.ready.Wait()
	now := time.Now()
	close(g.start)
	return now
}

// channels is a pair with an unbuffered channel each way.
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

// conds is a pair with one mutex and a condition variable each way.
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
