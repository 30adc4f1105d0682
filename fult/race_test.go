package fult

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// seed is printed and can be given again: FULT_SEED=n go test.
func seed(t testing.TB) uint64 {
	t.Helper()
	n := uint64(time.Now().UnixNano())
	if s := os.Getenv("FULT_SEED"); s != "" {
		v, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		n = v
	}
	t.Logf("FULT_SEED=%d", n)
	return n
}

// wider returns a hook that stays in each window for a random while. Which windows are wide in a run depends on the
// seed alone.
func wider(n uint64) func(window) {
	var calls atomic.Uint64
	var odds [beforeFutex + 1]uint64
	r := rand.New(rand.NewPCG(n, 1))
	for i := range odds {
		odds[i] = 1 + r.Uint64N(8)
	}
	return func(p window) {
		k := rand.New(rand.NewPCG(n, calls.Add(1))).Uint64N(64)
		if k >= odds[p] {
			return
		}
		if k%2 == 0 {
			runtime.Gosched()
			return
		}
		time.Sleep(time.Duration(k) * time.Microsecond)
	}
}

// TestNoWakeUpIsLost passes tokens round rings that mix threads of two workers, goroutines and OS threads. Each stop
// waits for its own token only, so one lost wake-up stops the ring for good. In builds with invariants (-race, or -tags
// golci_invariants) hooks widen the windows.
func TestNoWakeUpIsLost(t *testing.T) {
	n := seed(t)
	for _, spin := range []time.Duration{-1, time.Microsecond, 100 * time.Microsecond} {
		t.Run(fmt.Sprintf("spin=%v", spin), func(t *testing.T) {
			s := open(t, Config{Workers: 2, Spin: spin, coroutines: true, hook: wider(n)})
			runRing(t, s, rand.New(rand.NewPCG(n, 2)), 4000)
		})
	}
}

// stop is one station of the ring.
type stop struct {
	who   Waiter
	token atomic.Bool
}

func runRing(t *testing.T, s *Scheduler, r *rand.Rand, hops int) {
	const stations = 24
	// The first group of slots works without level 2, so some stations get slots beyond it.
	for worker := range 2 {
		for range groupSize - stations/4 {
			mustGoOn(t, s, worker, func(th *Thread) {
				for {
					th.Wait()
				}
			})
		}
	}
	ring := make([]stop, stations)
	var up, done sync.WaitGroup
	up.Add(stations)
	left := atomic.Int64{}
	left.Store(int64(hops))
	serve := func(i int, who Waiter, allUp func()) {
		defer done.Done()
		ring[i].who = who
		up.Done()
		allUp()
		for {
			for !ring[i].token.CompareAndSwap(true, false) {
				who.Wait()
			}
			over := left.Add(-1) < -stations
			next := &ring[(i+1)%stations]
			next.token.Store(true)
			signalFrom(who, next.who)
			if over {
				return
			}
		}
	}
	for i := range ring {
		done.Add(1)
		switch k := r.IntN(8); {
		case k < 6:
			mustGoOn(t, s, k%2, func(th *Thread) {
				serve(i, th, func() { Blocking(th, up.Wait) })
			})
		case k == 6:
			go serve(i, NewGoroutine(), up.Wait)
		default:
			go func() {
				o := NewOSThread()
				defer o.Release()
				serve(i, o, up.Wait)
			}()
		}
	}
	up.Wait()
	ring[0].token.Store(true)
	ring[0].who.Signal()
	done.Wait()
}

func mustGoOn(t testing.TB, s *Scheduler, worker int, f func(*Thread)) Handle {
	t.Helper()
	h, err := s.GoOn(worker, f)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestSignalsFromManyAtOnce: every signal is counted, also when signals collide.
func TestSignalsFromManyAtOnce(t *testing.T) {
	kinds(t, Config{Workers: 2}, func(t *testing.T, s *Scheduler) {
		const givers, each = 8, 500
		var given atomic.Int64
		var target *Thread
		ready := make(chan struct{})
		h := mustGoOn(t, s, 0, func(th *Thread) {
			target = th
			close(ready)
			for given.Load() < givers*each {
				th.Wait()
			}
		})
		<-ready
		var wg sync.WaitGroup
		for g := range givers {
			give := func() {
				for range each {
					given.Add(1)
					target.Signal()
				}
			}
			if g%2 == 0 {
				wg.Go(give)
			} else {
				mustGoOn(t, s, g/2%2, func(*Thread) { give() })
			}
		}
		wg.Wait()
		join(t, h)
	})
}

// TestLateSignalsToReusedSlots: signals to the former thread of a slot do the new thread no harm. The new thread gets
// its own signals.
func TestLateSignalsToReusedSlots(t *testing.T) {
	s := open(t, Config{MaxThreads: 4, coroutines: true})
	var old atomic.Pointer[Thread]
	var over atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !over.Load() {
			if th := old.Load(); th != nil {
				th.Signal()
			}
			time.Sleep(time.Microsecond)
		}
	})
	slots := map[int]int{}
	for range 500 {
		var token atomic.Bool
		started := make(chan *Thread, 1)
		h := spawn(t, s, func(th *Thread) {
			old.Store(th)
			started <- th
			for !token.Load() {
				th.Wait()
			}
		})
		th := <-started
		slots[th.ID().Slot]++
		token.Store(true)
		th.Signal()
		join(t, h)
	}
	over.Store(true)
	wg.Wait()
	if len(slots) > 4 {
		t.Errorf("500 threads, one at a time, in %d slots", len(slots))
	}
}
