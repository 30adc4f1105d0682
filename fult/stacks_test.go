package fult

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// computeUntil is what a thread computes in tests.
//
//go:noinline
func computeUntil(end *atomic.Bool) {
	for !end.Load() {
	}
}

// TestStuckThreadIsNamedByItsStack: the report names a thread that computes, and its line, whatever the worker has noted
// of who runs. It takes the stacks once.
func TestStuckThreadIsNamedByItsStack(t *testing.T) {
	var taken atomic.Int32
	reports := make(chan StuckReport, 10)
	s := open(t, Config{
		Workers: 2, StuckAfter: 20 * time.Millisecond, coroutines: true, OnStuck: func(r StuckReport) { reports <- r },
		stack: func(buf []byte, all bool) int {
			taken.Add(1)
			return runtime.Stack(buf, all)
		},
	})
	var end atomic.Bool
	h := mustGoOn(t, s, 1, func(th *Thread) {
		th.SetLabel("busy")
		defer func(g uintptr) { th.w.curG = g }(th.w.curG)
		th.w.curG = th.w.loop.g // as if the loop ran
		computeUntil(&end)
	})
	r := <-reports
	n := taken.Load()
	end.Store(true)
	join(t, h)
	if !r.Thread || r.Label != "busy" || r.ID.Worker != 1 || !strings.Contains(r.Stack, "fult.computeUntil") {
		t.Errorf("%v", r)
	}
	if n != 1 {
		t.Errorf("stacks were taken %d times", n)
	}
}

// TestRunningAmongMany: of very many threads the stacks name those that run, with one call of runtime.Stack.
func TestRunningAmongMany(t *testing.T) {
	n := 200_000
	if raceEnabled || testing.Short() {
		n = 2000
	}
	s := open(t, Config{coroutines: true, Workers: 2, StuckAfter: -1})
	var in atomic.Int64
	var m Mutex
	m.Lock(nil)
	var hs []Handle
	for range n {
		hs = append(hs, mustGoOn(t, s, 0, func(th *Thread) {
			in.Add(1)
			m.Lock(th)
			_ = m.Unlock(th)
		}))
	}
	for in.Load() < int64(n) || s.workers[0].parked.Load() == awake { // it sleeps when all wait
		runtime.Gosched()
	}
	var end, begun atomic.Bool
	last := mustGoOn(t, s, 1, func(*Thread) {
		begun.Store(true)
		computeUntil(&end)
	})
	for !begun.Load() {
	}
	taken := 0
	x := takeStacks(func(buf []byte, all bool) int {
		taken++
		return runtime.Stack(buf, all)
	})
	found := 0
	for th, stack := range x.Running(s) {
		found++
		if th.ID() != (ID{1, 0}) || !strings.Contains(stack, "fult.computeUntil") || x.Of(th) != stack {
			t.Errorf("thread %v\n%s", th.ID(), stack)
		}
	}
	if found != 1 || taken != 1 || x.Cut() || !s.Computes() {
		t.Errorf("%d threads run, stacks were taken %d times, cut: %v", found, taken, x.Cut())
	}
	end.Store(true)
	join(t, last)
	if err := m.Unlock(nil); err != nil {
		t.Error(err)
	}
	join(t, hs...)
}
