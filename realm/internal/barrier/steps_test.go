package barrier

import (
	"testing"

	"github.com/golci/golci/realm/internal/event"
)

// TestStepsAhead: a wait, an arrival and a trigger look at few phases, however many are ahead. Phases far ahead are
// named in order, backwards and with gaps.
func TestStepsAhead(t *testing.T) {
	const n = 1 << 14
	for name, order := range map[string]func(i uint64) uint64{
		"in order":  func(i uint64) uint64 { return 1 + i },
		"with gaps": func(i uint64) uint64 { return 1 + i*7%n }, // 7 is odd: each phase once
	} {
		var steps int
		b, err := New(Config{
			ID: event.MakeBarrier(0, 1, 0), Size: 1, Steps: &steps,
			Ops: func(uint32) Op { return nil }, Dead: func(int32) *event.Poison { return nil },
		}, 2, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		var out Out
		ws := make([]event.Waiter, n)
		for i := range uint64(n) {
			if b.Subscribe(order(i), true, &ws[i], &out) {
				t.Fatalf("phase %d is over", order(i))
			}
		}
		for round := range 2 {
			for i := range uint64(n) {
				phase := order(i)
				if round == 1 {
					phase = 1 + i
				}
				if err := b.Arrive(Handle{Phase: phase}, 1, nil, nil, &out); err != nil {
					t.Fatal(err)
				}
			}
		}
		fired := 0
		for w := out.Fire.Pop(); w != nil; w = out.Fire.Pop() {
			fired++
		}
		if most := 5 * 16 * n; fired != n || b.Known() != n || steps > most {
			t.Errorf("%s: %d of %d waiters fired, %d phases known, %d steps, more than %d", name, fired, n, b.Known(), steps, most)
		}
	}
}
