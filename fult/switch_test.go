package fult

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/bench/contend"
	"github.com/golci/golci/internal/platform/arch"
)

// switchers let pairs of threads pass a permit back and forth, all on one core.
var switchers = []struct {
	impl string
	run  func(pairs, rounds int) (time.Duration, error)
}{
	{"golci", overThreads(Fult)},
	{"goroutine", overThreads(Goroutines)},
	{"osthread", overThreads(OSThreads)},
	{"channel", overGoroutines(newChannels)},
	{"sync.Cond", overGoroutines(newConds)},
}

// A pingPong is one pair of threads that hand a permit to and fro. ping and pong each run on a thread of their own.
type pingPong interface {
	ping(rounds int)
	pong(rounds int)
}

// overGoroutines runs pairs on goroutines of one P, so that each hand-over is a switch on one core, as it is for golci.
func overGoroutines(create func() pingPong) func(pairs, rounds int) (time.Duration, error) {
	return func(pairs, rounds int) (time.Duration, error) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		all := make([]pingPong, pairs)
		for i := range all {
			all[i] = create()
		}
		return contend.Start(2*pairs, func(i int) error {
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

// permits is one pair of threads of a Scheduler that hand over by Signal and Wait. A Wait may return without cause.
// Then the thread waits again until turn is its own.
type permits struct {
	turn    atomic.Uint32 // 1: b's; each side stores only when it has the turn
	a, b    *Thread       // set before start is closed
	started sideBySide
}

// sideBySide holds the threads back until all are there.
type sideBySide struct {
	missing *atomic.Int64 // threads that have not begun
	ready   chan<- struct{}
	open    *atomic.Bool // set by the caller before it signals every thread
}

func (s sideBySide) enter(t *Thread) {
	if s.missing.Add(-1) == 0 {
		s.ready <- struct{}{}
	}
	for !s.open.Load() {
		t.Wait()
	}
}

func (p *permits) ping(t *Thread, rounds int) {
	p.started.enter(t)
	w := t.Worker()
	for range rounds {
		arch.StoreRel32(&p.turn, 1)
		w.Signal(p.b)
		for p.turn.Load() != 0 {
			t.Wait()
		}
	}
}

func (p *permits) pong(t *Thread, rounds int) {
	p.started.enter(t)
	w := t.Worker()
	for range rounds {
		for p.turn.Load() != 1 {
			t.Wait()
		}
		arch.StoreRel32(&p.turn, 0)
		w.Signal(p.a)
	}
}

// overThreads runs pairs as threads of kind on one worker, and on one P where the Go runtime schedules them.
func overThreads(kind Kind) func(pairs, rounds int) (time.Duration, error) {
	return func(pairs, rounds int) (time.Duration, error) { return switchThreads(kind, pairs, rounds) }
}

func switchThreads(kind Kind, pairs, rounds int) (took time.Duration, err error) {
	if kind != Fult {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	s, err := New(Config{Kind: kind})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var missing atomic.Int64
	var open atomic.Bool
	missing.Store(int64(2 * pairs))
	ready := make(chan struct{}, 1)
	all := make([]permits, pairs)
	handles := make([]Handle, 0, 2*pairs)
	for i := range all {
		p := &all[i]
		p.started = sideBySide{&missing, ready, &open}
		for _, body := range []func(*Thread){
			func(t *Thread) { p.a = t; p.ping(t, rounds) },
			func(t *Thread) { p.b = t; p.pong(t, rounds) },
		} {
			h, err := s.GoOn(0, body)
			if err != nil {
				return 0, err
			}
			handles = append(handles, h)
		}
	}
	<-ready
	start := time.Now()
	open.Store(true)
	for i := range all {
		all[i].a.Signal()
		all[i].b.Signal()
	}
	for _, h := range handles {
		err = errors.Join(err, h.Join())
	}
	return time.Since(start), err
}

// BenchmarkSwitch: one operation is a hand-over, from one thread's signal to the next thread's run. Of 1,024 threads
// 512 are always runnable.
func BenchmarkSwitch(b *testing.B) {
	for _, s := range switchers {
		for _, threads := range []int{2, 1024} {
			b.Run(fmt.Sprintf("impl=%s/threads=%d", s.impl, threads), func(b *testing.B) {
				contend.Run(b, threads, true, func(n int) (time.Duration, error) { return s.run(threads/2, n) })
			})
		}
	}
}

// TestSwitchers: every implementation hands over to the end.
func TestSwitchers(t *testing.T) {
	for _, s := range switchers {
		if took, err := s.run(32, 5); took <= 0 || err != nil {
			t.Errorf("%s: %v, %v", s.impl, took, err)
		}
	}
}
