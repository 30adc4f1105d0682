package fult

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/internal/platform/spin"
)

// crowd runs n callers, threads and goroutines mixed, and waits for them.
func crowd(t *testing.T, s *Scheduler, n int, f func(i int, me Waiter)) {
	t.Helper()
	var ends []func()
	for i := range n {
		switch i % 4 {
		case 0:
			end := make(chan struct{})
			go func() { defer close(end); f(i, []Waiter{NewGoroutine(), s.Current()}[i/4%2]) }()
			ends = append(ends, func() { <-end })
		default:
			h := spawn(t, s, func(th *Thread) { f(i, th) })
			ends = append(ends, func() { join(t, h) })
		}
	}
	for _, end := range ends {
		end()
	}
}

func pause(me Waiter, r *rand.Rand) {
	if th, ok := me.(*Thread); ok && th != nil && r.IntN(3) == 0 {
		th.Yield()
	}
}

func TestMutexExcludes(t *testing.T) {
	n := seed(t)
	kinds(t, Config{Workers: 2}, func(t *testing.T, s *Scheduler) {
		var m Mutex
		inside, total := 0, 0
		crowd(t, s, 16, func(i int, me Waiter) {
			r := rand.New(rand.NewPCG(n, uint64(i)))
			for range 100 {
				if !m.TryLock() {
					m.Lock(me)
				}
				inside++
				pause(me, r)
				if inside != 1 {
					t.Errorf("%d inside", inside)
				}
				inside--
				total++
				if err := m.Unlock(me); err != nil {
					t.Error(err)
				}
			}
		})
		if total != 1600 {
			t.Errorf("total %d", total)
		}
		if err := m.Unlock(nil); !errors.Is(err, ErrArgument) {
			t.Errorf("unlock of an unlocked mutex: %v", err)
		}
	})
}

// queued counts who waits in q, which mu guards.
func queued(mu *spin.Lock, q *waitQueue) (n int) {
	mu.Lock()
	defer mu.Unlock()
	for e := q.head; e != nil; e = e.next {
		n++
	}
	return n
}

func TestMutexIsFirstComeFirstServed(t *testing.T) {
	s := open(t, Config{coroutines: true})
	var m Mutex
	var order []int
	m.Lock(nil)
	var hs []Handle
	for i := range 10 {
		started := make(chan struct{})
		hs = append(hs, mustGoOn(t, s, 0, func(th *Thread) {
			close(started)
			m.Lock(th)
			order = append(order, i)
			th.Yield()
			m.Unlock(th)
		}))
		<-started
		for queued(&m.mu, &m.q) != i+1 {
			time.Sleep(time.Microsecond)
		}
	}
	m.Unlock(nil)
	join(t, hs...)
	for i, got := range order {
		if i != got {
			t.Fatalf("order %v", order)
		}
	}
}

func TestCondBoundedQueue(t *testing.T) {
	kinds(t, Config{Workers: 2}, func(t *testing.T, s *Scheduler) {
		const room, each, pairs = 3, 200, 4
		var m Mutex
		notFull, notEmpty := Cond{L: &m}, Cond{L: &m}
		var queue []int
		var sum atomic.Int64
		crowd(t, s, 2*pairs, func(i int, me Waiter) {
			for k := range each {
				m.Lock(me)
				if i < pairs {
					for len(queue) == room {
						notFull.Wait(me)
					}
					queue = append(queue, i*each+k)
					notEmpty.Signal(me)
				} else {
					for len(queue) == 0 {
						notEmpty.Wait(me)
					}
					sum.Add(int64(queue[0]))
					queue = queue[1:]
					notFull.Broadcast(me)
				}
				m.Unlock(me)
			}
		})
		if want := int64(pairs * each * (pairs*each - 1) / 2); sum.Load() != want {
			t.Errorf("sum %d, want %d", sum.Load(), want)
		}
		if err := notFull.Wait(NewGoroutine()); !errors.Is(err, ErrArgument) {
			t.Errorf("Wait without the lock: %v", err)
		}
	})
}

func TestBarrierRounds(t *testing.T) {
	kinds(t, Config{Workers: 2}, func(t *testing.T, s *Scheduler) {
		const n, rounds = 9, 100
		b, err := NewBarrier(n)
		if err != nil {
			t.Fatal(err)
		}
		var here, lasts atomic.Int32
		crowd(t, s, n, func(_ int, me Waiter) {
			for r := range int32(rounds) {
				here.Add(1)
				if b.Wait(me) {
					lasts.Add(1)
				}
				if got := here.Load(); got < (r+1)*n {
					t.Errorf("round %d: passed with %d here", r, got)
				}
				b.Wait(me)
			}
		})
		if lasts.Load() != rounds {
			t.Errorf("%d rounds, %d were last", rounds, lasts.Load())
		}
		if _, err := NewBarrier(0); !errors.Is(err, ErrArgument) {
			t.Errorf("barrier of none: %v", err)
		}
	})
}

func TestWaitGroup(t *testing.T) {
	kinds(t, Config{Workers: 2}, func(t *testing.T, s *Scheduler) {
		var g WaitGroup
		var done atomic.Int32
		if err := g.Add(nil, 8); err != nil {
			t.Fatal(err)
		}
		crowd(t, s, 12, func(i int, me Waiter) {
			if i >= 4 {
				done.Add(1)
				g.Done(me)
				return
			}
			if g.Wait(me); done.Load() != 8 {
				t.Errorf("passed at %d", done.Load())
			}
		})
		if err := g.Done(nil); !errors.Is(err, ErrArgument) {
			t.Errorf("below zero: %v", err)
		}
	})
}

// TestCounterWakesOnce: n signals, one wake-up.
func TestCounterWakesOnce(t *testing.T) {
	kinds(t, Config{Workers: 2}, func(t *testing.T, s *Scheduler) {
		const n = 20
		var c Counter
		wakes := 0
		join(t, spawn(t, s, func(th *Thread) {
			for round := range 50 {
				c.Reset(th, n)
				for range n {
					spawn(t, s, func(*Thread) {
						c.Signal()
					})
				}
				for c.Left() > 0 {
					th.Wait()
					wakes++
				}
				if round%2 == 0 {
					c.Wait() // over already
				}
			}
		}))
		// A late wake-up may end the wait of the next round, but no more.
		if wakes > 2*50 {
			t.Errorf("50 rounds, %d wake-ups", wakes)
		}
	})
}

func TestChannels(t *testing.T) {
	kinds(t, Config{Workers: 2}, func(t *testing.T, s *Scheduler) {
		const n = 500
		up, down := make(chan int), make(chan int)
		h := spawn(t, s, func(th *Thread) {
			for {
				v, ok := Recv(th, up)
				if !ok {
					close(down)
					return
				}
				if err := Send(th, down, 2*v); err != nil {
					t.Error(err)
				}
			}
		})
		for i := range n {
			if err := Send(nil, up, i); err != nil {
				t.Fatal(err)
			}
			if v, ok := Recv(nil, down); !ok || v != 2*i {
				t.Fatalf("%d came back as %d, %v", i, v, ok)
			}
		}
		close(up)
		join(t, h)
		if err := Send(nil, up, 1); !errors.Is(err, ErrArgument) {
			t.Errorf("send to a closed channel: %v", err)
		}
	})
}

func TestBlockingLeavesTheWorkerFree(t *testing.T) {
	s := open(t, Config{coroutines: true})
	gate := make(chan struct{})
	h := mustGoOn(t, s, 0, func(th *Thread) { Blocking(th, func() { <-gate }) })
	join(t, mustGoOn(t, s, 0, func(*Thread) { close(gate) }), h)

	cause := errors.New("in f")
	err := mustGoOn(t, s, 0, func(th *Thread) { Blocking(th, func() { explode(cause) }) }).Join()
	if !errors.Is(err, cause) {
		t.Errorf("Join: %v", err)
	}
}

// TestCloseRepairsQueues: Close ends threads that wait in the queue of an object. Others can still have the object.
func TestCloseRepairsQueues(t *testing.T) {
	kinds(t, Config{Workers: 2}, func(t *testing.T, s *Scheduler) {
		var m Mutex
		m.Lock(nil)
		b, _ := NewBarrier(2)
		var g WaitGroup
		g.Add(nil, 1)
		up, down := make(chan int), make(chan int)
		var began atomic.Int32
		waits := []func(th *Thread){
			func(th *Thread) { m.Lock(th) },
			func(th *Thread) { b.Wait(th) },
			func(th *Thread) { g.Wait(th) },
			func(th *Thread) { Recv(th, up) },
			func(th *Thread) { Send(th, down, 1) },
			func(th *Thread) { th.Sleep(math.MaxInt64) },
		}
		for _, wait := range waits {
			spawn(t, s, func(th *Thread) { began.Add(1); wait(th); t.Error("went on") })
		}
		for began.Load() != int32(len(waits)) ||
			queued(&m.mu, &m.q) != 1 || queued(&b.mu, &b.q) != 1 || queued(&g.mu, &g.q) != 1 {
			time.Sleep(time.Millisecond)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		m.Unlock(nil)
		if !m.TryLock() {
			t.Error("the mutex went to a dead thread")
		}
		if b.here != 0 || b.q.head != nil || g.q.head != nil {
			t.Error("dead threads in the queues")
		}
	})
}
