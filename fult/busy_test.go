package fult

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// TestStolenJobsTakeTheirReservation: a worker whose jobs others steal has room for new ones.
func TestStolenJobsTakeTheirReservation(t *testing.T) {
	const room, rounds = 16, 4
	s := open(t, Config{Workers: 2, MaxThreads: room, coroutines: true})
	join(t, mustGoOn(t, s, 0, func(*Thread) {
		for range rounds * room {
			var ran atomic.Bool
			if _, err := s.Go(func(*Thread) { ran.Store(true) }); err != nil {
				t.Error(err)
				return
			}
			for !ran.Load() { // keeps worker 0 busy until worker 1 has stolen
				runtime.Gosched()
			}
		}
	}))
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, w := range s.workers {
		if n := w.Live(); n != 0 {
			t.Errorf("worker %d counts %d threads, and has none", w.id, n)
		}
	}
	for range room {
		mustGoOn(t, s, 0, func(th *Thread) { th.Yield() })
	}
}

// TestSleepEndsOnABusyWorker: threads that always give way to each other, and so leave the worker no idle moment, do
// not keep one that sleeps from waking.
func TestSleepEndsOnABusyWorker(t *testing.T) {
	s := open(t, Config{coroutines: true})
	var woken bool // of the one worker
	sleeper := mustGoOn(t, s, 0, func(th *Thread) {
		th.Sleep(time.Millisecond)
		woken = true
	})
	for range 3 {
		mustGoOn(t, s, 0, func(th *Thread) {
			for end := time.Now().Add(20 * time.Second); !woken; th.Yield() {
				if time.Now().After(end) {
					t.Error("the sleeper does not wake")
					return
				}
			}
		})
	}
	join(t, sleeper)
}
