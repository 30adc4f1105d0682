package badnet

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func mustFate(t *testing.T, f Faults) *Fate {
	t.Helper()
	fate, err := NewFate(f)
	if err != nil {
		t.Fatal(err)
	}
	return fate
}

// TestTimes counts what happens to many packets, and has the same seed do the same.
func TestTimes(t *testing.T) {
	const packets, due = 100_000, time.Second
	run := func() (lost, late, twice int) {
		f := mustFate(t, Faults{Seed: 1, Loss: 0.1, Reorder: 0.2, Dup: 0.3, ReorderBy: time.Millisecond})
		for range packets {
			at := f.Times(due)
			if len(at) == 0 {
				lost++
				continue
			}
			if at[0] < due || at[0] >= due+time.Millisecond {
				t.Fatalf("a packet due at %v comes at %v", due, at[0])
			}
			if at[0] > due {
				late++
			}
			if len(at) == 2 {
				twice++
			}
		}
		return lost, late, twice
	}
	lost, late, twice := run()
	for _, c := range []struct {
		name      string
		got, want int
	}{{"lost", lost, packets / 10}, {"late", late, packets * 9 / 50}, {"twice", twice, packets * 27 / 100}} {
		if d := c.got - c.want; d < -packets/100 || d > packets/100 {
			t.Errorf("%d packets of %d came %s, want about %d", c.got, packets, c.name, c.want)
		}
	}
	if a, b, c := run(); a != lost || b != late || c != twice {
		t.Errorf("the same seed gives %d, %d, %d and %d, %d, %d", lost, late, twice, a, b, c)
	}
	none := mustFate(t, Faults{})
	if at := none.Times(due); len(at) != 1 || at[0] != due {
		t.Errorf("without faults a packet due at %v comes at %v", due, at)
	}
}
