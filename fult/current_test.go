package fult

import (
	"sync/atomic"
	"testing"
)

// TestCallsFindTheirThread: calls that are given no thread have the one that calls wait, not its worker, of which
// there is one only.
func TestCallsFindTheirThread(t *testing.T) {
	kinds(t, Config{Workers: 1}, func(t *testing.T, s *Scheduler) {
		other := open(t, Config{coroutines: true})
		join(t, spawn(t, other, func(*Thread) {}))
		ch := make(chan int)
		var mu Mutex
		var first, done WaitGroup
		first.Add(nil, 1)
		b, err := NewBarrier(2)
		if err != nil {
			t.Fatal(err)
		}
		steps := map[string][2]func(){
			"channel":    {func() { Recv(nil, ch) }, func() { _ = Send(nil, ch, 1) }},
			"barrier":    {func() { b.Wait(nil) }, func() { b.Wait(nil) }},
			"wait group": {func() { first.Wait(nil) }, func() { _ = first.Done(nil) }},
			"mutex": {func() {
				mu.Lock(nil)
				Current().Yield()
				mu.Unlock(nil)
			}, func() {
				mu.Lock(nil)
				mu.Unlock(nil)
			}},
		}
		gate := make(chan struct{})
		steps["blocking"] = [2]func(){func() { Blocking(nil, func() { <-gate }) }, func() { close(gate) }}
		for name, pair := range steps {
			_ = done.Add(nil, 2)
			for _, f := range pair {
				spawn(t, s, func(th *Thread) {
					if Current() != th {
						t.Errorf("%s: Current is %v", name, Current())
					}
					f()
					_ = done.Done(nil)
				})
			}
			done.Wait(nil) // hangs if the first of the two holds the worker
		}
		if Current() != nil {
			t.Error("the test is a thread")
		}
	})
}

// TestCurrentAfterClose: a scheduler that is closed is not looked at any more.
func TestCurrentAfterClose(t *testing.T) {
	before := 0
	if all := running.all.Load(); all != nil {
		before = len(*all)
	}
	var seen atomic.Int64
	for range 3 {
		s, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Go(func(*Thread) { seen.Add(1) }); err != nil {
			t.Fatal(err)
		}
		if err := s.Wait(); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(*running.all.Load()); got != before || seen.Load() != 3 {
		t.Errorf("%d schedulers are left, %d were there before; %d threads ran", got, before, seen.Load())
	}
}
