package reliable

import (
	"testing"
	"time"
)

// TestLateTimersAreNoAbsence: a rank whose timers all end a little late, since nothing else wakes it, still finds out
// that its peer is silent.
func TestLateTimersAreNoAbsence(t *testing.T) {
	w := newWorld(t, 1, 2, Config{}, Link{MTU: 1400})
	w.Fate = func(int, int, []byte, time.Duration) []time.Duration { return nil }
	a := w.ranks[0]
	a.e.Watch(1, 0)
	limit := a.e.cfg.DeadAfter + time.Second
	for now := time.Duration(0); len(a.died) == 0; now = a.e.NextTimer() + 100*time.Microsecond {
		if now > limit {
			t.Fatalf("the peer has been silent for %v and lives", now)
		}
		a.e.Outgoing(now, 10, a)
	}
}
