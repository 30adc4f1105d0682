package event

import (
	"slices"
	"testing"
)

// TestSlotWithdrawWhere: of the waiters of a slot those that are named are not woken, and the others are.
func TestSlotWithdrawWhere(t *testing.T) {
	var s Slot
	gen := s.Create()
	ws := waiters(4)
	for _, w := range ws {
		s.Wait(gen, w)
	}
	s.WithdrawWhere(func(w *Waiter) bool { return w == ws[0] || w == ws[2] })
	if s.Leave(gen, ws[0]) || s.Withdraw(gen, ws[2]) || !s.Leave(gen, ws[3]) {
		t.Error("what has been withdrawn is withdrawn again, or what has not cannot be")
	}
	woken, _ := triggered(t, &s, nil)
	if got := woken.all(); !slices.Equal(got, []*Waiter{ws[1]}) {
		t.Errorf("woken %v", got)
	}
}

// TestReplicaWithdrawWhere: the waiters of all generations are looked at, each with its own. The questions to the owner
// stay.
func TestReplicaWithdrawWhere(t *testing.T) {
	var r Replica
	ws := waiters(5)
	gens := []uint32{2, 9, 9, 4, 2}
	for i, w := range ws {
		ask(t, &r, gens[i], w, i != 2 && i != 4)
	}
	seen := make(map[*Waiter]uint32)
	r.WithdrawWhere(func(gen uint32, w *Waiter) bool {
		seen[w] = gen
		return w == ws[0] || w == ws[1] || w == ws[3]
	})
	for i, w := range ws {
		if seen[w] != gens[i] {
			t.Errorf("waiter %d is shown with generation %d, not %d", i, seen[w], gens[i])
		}
	}
	if r.Ask(4) {
		t.Error("the owner is to be asked again")
	}
	woken := r.Update(9, nil)
	if got := woken.all(); len(got) != 2 || !slices.Contains(got, ws[2]) || !slices.Contains(got, ws[4]) {
		t.Errorf("woken %v", got)
	}
}
