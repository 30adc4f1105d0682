package progress

import (
	"testing"
	"time"

	"github.com/golci/golci/fult"
)

// idle is a source to which nothing comes. It completes what is waited for when somebody sleeps in it.
type idle struct {
	d       *Done
	started time.Time
	spun    time.Duration // from the start of the wait to the first sleep
}

func (*idle) Poll(*fult.Worker) int { return 0 }
func (*idle) Wake()                 {}

func (s *idle) Sleep(_ time.Duration, ready func() bool) bool {
	s.spun = time.Since(s.started)
	s.d.Complete(nil)
	ready()
	return true
}

// TestAWaitSpinsOnce: a waiter sleeps after one spinning time, whichever way it began to wait. A machine that stands
// still makes it longer, so the best of a few has to do.
func TestAWaitSpinsOnce(t *testing.T) {
	const spin = 300 * time.Millisecond
	for _, way := range []struct {
		name string
		wait func(e *Engine, d *Done)
	}{
		{"Wait", func(e *Engine, d *Done) { e.Wait(d) }},
		{"WaitAny", func(e *Engine, d *Done) { e.WaitAny([]*Done{d, nil}) }},
		{"LingerFor and Wait", func(e *Engine, d *Done) { e.LingerFor(d, nil); e.WaitAll([]*Done{d}) }},
	} {
		t.Run(way.name, func(t *testing.T) {
			best := time.Hour
			for range 5 {
				s := &idle{d: new(Done), started: time.Now()}
				way.wait(New(s, nil, Config{Spin: spin}), s.d)
				if best = min(best, s.spun); best < spin*3/2 {
					break
				}
			}
			t.Logf("slept after %v", best)
			if best < spin || best > spin*3/2 {
				t.Errorf("a wait slept after %v, want %v", best, spin)
			}
		})
	}
}

// TestASleeperThatFindsSomethingSpinsAgain: what a poll finds after the spinning time is over begins a new one.
func TestASleeperThatFindsSomethingSpinsAgain(t *testing.T) {
	s := newSpinner(New(&idle{}, nil, Config{Spin: time.Hour}))
	s.spent = true
	if !s.isOver(0) || s.isOver(1) || s.isOver(0) {
		t.Error("a spinner goes by something other than its last find")
	}
	if s = newSpinner(New(&idle{}, nil, Config{Spin: -1})); !s.isOver(0) || s.isOver(1) || !s.isOver(0) {
		t.Error("a spinner without time spins")
	}
}

// TestACrowdedWaitSharesItsCore: each poll in vain of ranks that share cores gives the core away, for the spinning
// time. Where nothing gives it away, they sleep at once.
func TestACrowdedWaitSharesItsCore(t *testing.T) {
	const spin = 20 * time.Millisecond
	for _, can := range []bool{false, true} {
		given := 0
		c := Config{Spin: spin, Crowded: true}
		if can {
			c.Share = func() { given++ }
		}
		s := &idle{d: new(Done), started: time.Now()}
		New(s, nil, c).Wait(s.d)
		if can != (given > 1) || can != (s.spun > spin) {
			t.Errorf("can share %v: shared %d times, slept after %v", can, given, s.spun)
		}
	}
}
