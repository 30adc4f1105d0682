package fult

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golci/golci/internal/platform/arch"
)

// TestComputingThreadsPoll: messages are looked at after each thread that computes for longer than pollWithin, also if
// it stays runnable; and after each of the threads of a word.
func TestComputingThreadsPoll(t *testing.T) {
	for _, threads := range []int{1, 3, 50} {
		const within, rounds = 100 * time.Microsecond, 40
		s, err := New(Config{coroutines: true, pollWithin: within})
		if err != nil {
			t.Fatal(err)
		}
		p := newCounting()
		if err := s.SetPoller(p); err != nil {
			t.Fatal(err)
		}
		between, worst, slow := 0, 0, 0 // slow counts the polls after the first one that came late
		p.on = func(*Worker) {
			if slow > 0 {
				worst = max(worst, between)
			}
			if between > 0 {
				slow++
			}
			between = 0
		}
		started := 0 // all run on one worker
		for range threads {
			mustGoOn(t, s, 0, func(th *Thread) {
				for started++; started < threads; {
					th.Yield()
				}
				for range rounds {
					for begun := time.Now(); time.Since(begun) < within+within/2; {
					}
					between++
					th.Yield()
				}
			})
		}
		if err := errors.Join(s.Wait(), s.Close()); err != nil { // the poll function runs until then
			t.Fatal(err)
		}
		if worst != 1 {
			t.Errorf("%d threads: %d computed between two polls, want 1", threads, worst)
		}
	}
}

func TestPaced(t *testing.T) {
	const within = 20000
	for _, x := range []struct {
		n, ran int32
		took   uint64
		next   int32
		late   bool
	}{
		{32, 32, within, 32, false},
		{32, 32, 2 * within, 16, true},
		{32, 96, within + 1, 31, true},
		{32, 32, 1e9, 1, true},
		{1, 1, 1e9, 1, true},
		{1, 1, within / 2, 2, false},
		{31, 31, 0, 32, false},
	} {
		if next, late := pacedCount(x.n, x.ran, x.took, within); next != x.next || late != x.late {
			t.Errorf("at %d, %d threads in %v: %d, %v; want %d, %v", x.n, x.ran, x.took, next, late, x.next, x.late)
		}
	}
}

// TestTicksWhereTimeStandsStill: in a bubble of synctest the clock moves only when all wait.
func TestTicksWhereTimeStandsStill(t *testing.T) {
	measure := func() float64 {
		begun := time.Now()
		return measureTicks(func() time.Duration { return time.Since(begun) }, arch.Ticks)
	}
	synctest.Test(t, func(t *testing.T) {
		if rate := measure(); rate != 1 {
			t.Errorf("%v ticks a nanosecond", rate)
		}
	})
	if rate := measure(); !(rate > 0) {
		t.Errorf("%v ticks a nanosecond", rate)
	}
}

// TestTicksOfAThreadThatPauses: a busy machine takes the processor away once, before any of the reads.
func TestTicksOfAThreadThatPauses(t *testing.T) {
	const perNano, perRead, pause = 2, 100, 1_000_000
	reads := 0
	for at := 0; at <= reads; at++ {
		now, read := 0, 0
		step := func() int {
			if now += perRead; read == at {
				now += pause
			}
			read++
			return now
		}
		rate := measureTicks(func() time.Duration { return time.Duration(step()) }, func() uint64 { return uint64(step() * perNano) })
		if rate < 0.97*perNano || rate > perNano {
			t.Errorf("%v ticks a nanosecond with a pause before read %d, want %d", rate, at, perNano)
		}
		reads = max(reads, read)
	}
}
