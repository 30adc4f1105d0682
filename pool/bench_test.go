package pool

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/bench/contend"
)

const packets = 1024

var errEmpty = errors.New("the pool is empty")

// packet is not touched by the loops: in a shared pool that would add the crossing of its lines.
type packet [256]byte

// pairs is n pairs of get and put by goroutine g. Each loop calls its pool directly.
type pairs func(g, n int) error

// rivals: golci is Pool with a sub-pool a goroutine, onelock the same with one for all, stack the lock-free one.
var rivals = []struct {
	impl   string
	create func(goroutines int) (pairs, error)
}{
	{"golci", poolPairs},
	{"onelock", func(int) (pairs, error) { return poolPairs(1) }},
	{"stack", stackPairs},
	{"channel", channelPairs},
	{"syncpool", syncPoolPairs},
}

func poolPairs(workers int) (pairs, error) {
	p, err := New(Options[packet]{
		Workers: workers, Limit: packets, Initial: packets, New: func() *packet { return new(packet) },
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
	s, err := NewStack[packet](packets)
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

// BenchmarkPool: one operation is a get and a put.
func BenchmarkPool(b *testing.B) {
	for _, r := range rivals {
		for _, g := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("impl=%s/goroutines=%d", r.impl, g), func(b *testing.B) {
				contend.Run(b, g, false, func(n int) (time.Duration, error) {
					p, err := r.create(g)
					if err != nil {
						return 0, err
					}
					return contend.Start(g, func(i int) error { return p(i, n) })
				})
			})
		}
	}
}
