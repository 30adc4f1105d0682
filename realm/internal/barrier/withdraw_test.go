package barrier

import (
	"testing"

	"github.com/golci/golci/realm/internal/event"
)

// TestWithdrawWhere: the waiters of all phases are looked at, each with its own. Those that are named do not fire.
func TestWithdrawWhere(t *testing.T) {
	b, err := New(Config{
		ID: event.MakeBarrier(0, 1, 0), Size: 1,
		Ops: func(uint32) Op { return nil }, Dead: func(int32) *event.Poison { return nil },
	}, 1, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out Out
	var ws [4]event.Waiter
	phases := [4]uint64{1, 3, 3, 2}
	for i := range ws {
		b.Subscribe(phases[i], true, &ws[i], &out)
	}
	seen := make(map[*event.Waiter]uint64)
	b.WithdrawWhere(func(phase uint64, w *event.Waiter) bool {
		seen[w] = phase
		return w == &ws[0] || w == &ws[2]
	})
	for i := range ws {
		if seen[&ws[i]] != phases[i] {
			t.Errorf("waiter %d is shown with phase %d, not %d", i, seen[&ws[i]], phases[i])
		}
	}
	for phase := range uint64(3) {
		if err := b.Arrive(Handle{Phase: 1 + phase}, 1, nil, nil, &out); err != nil {
			t.Fatal(err)
		}
	}
	if w, x := out.Fire.Pop(), out.Fire.Pop(); w != &ws[3] || x != &ws[1] || !out.Fire.Empty() {
		t.Error("not the two that have been left fire, by their phases")
	}
}
