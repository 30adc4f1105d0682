package local

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/pool"
)

const packets = 1024

var errEmpty = errors.New("local: pool is empty")

// packet is not touched by the loops: in a shared pool that would add the crossing of its lines.
type packet [256]byte

// pairs is n pairs of get and put by goroutine g. Each loop calls its pool directly.
type pairs func(g, n int) error

// pools: golci is pool.Pool with a sub-pool a goroutine, onelock the same with one for all, stack the lock-free one.
var pools = []contender{
	{bench.Golci, overPool(poolPairs)},
	{"onelock", overPool(func(int) (pairs, error) { return poolPairs(1) })},
	{"stack", overPool(stackPairs)},
	{"channel", overPool(channelPairs)},
	{"syncpool", overPool(syncPoolPairs)},
}

func overPool(create func(goroutines int) (pairs, error)) func(goroutines, n int) (time.Duration, error) {
	return func(goroutines, n int) (time.Duration, error) {
		if goroutines > packets {
			return 0, fmt.Errorf("%w: %d, allowed 1 to %d", ErrThreads, goroutines, packets)
		}
		p, err := create(goroutines)
		if err != nil {
			return 0, err
		}
		return together(goroutines, func(g int) error { return p(g, n) })
	}
}

func poolPairs(workers int) (pairs, error) {
	p, err := pool.New(pool.Options[packet]{
		Workers: workers,
		Limit:   packets,
		Initial: packets,
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

func stackPairs(int) (pairs, error) {
	s, err := pool.NewStack[packet](packets)
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

func channelPairs(int) (pairs, error) {
	c := make(chan *packet, packets)
	for range packets {
		c <- new(packet)
	}
	return func(_, n int) error {
		for range n {
			k := <-c
			c <- k
		}
		return nil
	}, nil
}

// syncPoolPairs measures what is no rival: sync.Pool neither bounds the packets nor keeps them over a collection.
func syncPoolPairs(int) (pairs, error) {
	p := sync.Pool{New: func() any { return new(packet) }}
	return func(_, n int) error {
		for range n {
			k := p.Get().(*packet)
			p.Put(k)
		}
		return nil
	}, nil
}
