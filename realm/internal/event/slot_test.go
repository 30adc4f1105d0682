package event

import (
	"slices"
	"testing"
	"unsafe"
)

// waiters are new waiters.
func waiters(n int) []*Waiter {
	ws := make([]*Waiter, n)
	for i := range ws {
		ws[i] = new(Waiter)
	}
	return ws
}

func members(r Ranks) (got []int) {
	r.Each(func(rank int) { got = append(got, rank) })
	return got
}

// triggered triggers a slot's live generation from its own rank.
func triggered(t *testing.T, s *Slot, why *Poison) (List, Ranks) {
	t.Helper()
	gen, ok := s.Alive()
	if !ok {
		t.Fatalf("generation %d is not alive", gen)
	}
	woken, tell, st := s.Trigger(gen, 0, why)
	if st != Pending {
		t.Fatalf("trigger: %d", st)
	}
	return woken, tell
}

// cycle has generations of a slot created and triggered, of which those in poisoned have a poison.
func cycle(t *testing.T, s *Slot, n int, poisoned ...uint32) {
	t.Helper()
	for range n {
		gen := s.Create()
		var why *Poison
		if slices.Contains(poisoned, gen) {
			why = because(gen)
		}
		triggered(t, s, why)
	}
}

func look(t *testing.T, s *Slot, gen uint32, want Status, poisoned bool) {
	t.Helper()
	if st, why := s.Look(gen); st != want || (why != nil) != poisoned {
		t.Errorf("generation %d: status %d, poison %v; want %d, %v", gen, st, why, want, poisoned)
	}
}

// TestSlotSize: a slot has one pointer to waiters, one to what is rare, and its generation.
func TestSlotSize(t *testing.T) {
	if n := unsafe.Sizeof(Slot{}); n > 24 {
		t.Errorf("%d bytes", n)
	}
}

// TestSlotGenerations: the first generation is 1. Earlier ones stay triggered, later ones are unknown.
func TestSlotGenerations(t *testing.T) {
	var s Slot
	for _, gen := range []uint32{0, 1, 2} {
		look(t, &s, gen, Unknown, false)
	}
	for gen := uint32(1); gen < 5; gen++ {
		if got := s.Create(); got != gen {
			t.Fatalf("generation %d, want %d", got, gen)
		}
		look(t, &s, gen, Pending, false)
		look(t, &s, gen+1, Unknown, false)
		triggered(t, &s, nil)
		look(t, &s, gen, Triggered, false)
		look(t, &s, 1, Triggered, false)
		look(t, &s, gen+1, Unknown, false)
		look(t, &s, 0, Unknown, false)
	}
}

// TestSlotWait: waiters are woken once, oldest first, by their generation, with its poison. A waiter of an outdated
// generation is not kept, and neither is one of a future generation.
func TestSlotWait(t *testing.T) {
	var s Slot
	gen := s.Create()
	ws := waiters(3)
	ws[0].Poison = because(99) // of an earlier use
	for _, w := range ws {
		if st, _ := s.Wait(gen, w); st != Pending {
			t.Fatalf("status %d", st)
		}
	}
	var seen []*Waiter
	if s.Waiters(func(w *Waiter) { seen = append(seen, w) }); !slices.Equal(seen, ws) {
		t.Error("Waiters has not all")
	}
	woken, _ := triggered(t, &s, nil)
	if !slices.Equal(woken.all(), ws) || ws[0].Poison != nil {
		t.Errorf("woken %v, want %v; poison %v", woken.all(), ws, ws[0].Poison)
	}
	why := because(2)
	gen = s.Create()
	w := new(Waiter)
	if st, _ := s.Wait(gen-1, w); st != Triggered || w.Next != nil {
		t.Errorf("a wait for an outdated generation: %d", st)
	}
	if st, _ := s.Wait(gen+1, w); st != Unknown || w.Next != nil {
		t.Errorf("a wait for a future generation: %d", st)
	}
	s.Wait(gen, w)
	if woken, _ := triggered(t, &s, why); !slices.Equal(woken.all(), []*Waiter{w}) || w.Poison != why {
		t.Errorf("woken %v with %v", woken.all(), w.Poison)
	}
	if st, got := s.Wait(gen, new(Waiter)); st != Triggered || got != why {
		t.Errorf("a wait for a poisoned generation: %d, %v", st, got)
	}
}

// TestSlotTriggerTwice: only the first trigger of a generation counts, and one of an unknown generation does nothing.
func TestSlotTriggerTwice(t *testing.T) {
	var s Slot
	gen := s.Create()
	w := new(Waiter)
	s.Wait(gen, w)
	s.Subscribe(gen, 5)
	for _, unknown := range []uint32{0, gen + 1, MaxGen} {
		if woken, tell, st := s.Trigger(unknown, 3, because(1)); st != Unknown || !woken.Empty() || tell.Len() != 0 {
			t.Errorf("generation %d: %d, %d woken, %d told", unknown, st, woken.Len(), tell.Len())
		}
	}
	look(t, &s, gen, Pending, false)
	if woken, tell, st := s.Trigger(gen, 3, nil); st != Pending || woken.Len() != 1 || tell.Len() != 1 {
		t.Errorf("%d, %d woken, %d told", st, woken.Len(), tell.Len())
	}
	for range 2 { // in the second round the slot has its next generation
		if woken, tell, st := s.Trigger(gen, 4, because(1)); st != Triggered || !woken.Empty() || tell.Len() != 0 {
			t.Errorf("again: %d, %d woken, %d told", st, woken.Len(), tell.Len())
		}
		look(t, &s, gen, Triggered, false)
		s.Create()
	}
	look(t, &s, gen+1, Pending, false)
}

// TestSlotWithdraw: a waiter that is withdrawn is not woken; the others are.
func TestSlotWithdraw(t *testing.T) {
	var s Slot
	gen := s.Create()
	ws := waiters(3)
	for _, w := range ws {
		s.Wait(gen, w)
	}
	if s.Withdraw(gen+1, ws[1]) || !s.Withdraw(gen, ws[1]) || s.Withdraw(gen, ws[1]) {
		t.Error("a waiter is withdrawn once, from its generation")
	}
	woken, _ := triggered(t, &s, nil)
	if got := woken.all(); !slices.Equal(got, []*Waiter{ws[0], ws[2]}) {
		t.Errorf("woken %v", got)
	}
	s.Create()
	if s.Withdraw(gen, ws[0]) {
		t.Error("withdrawn after the trigger")
	}
}

// TestSlotSubscribers: many ranks subscribe; each is told once, in order, except the one that triggers.
func TestSlotSubscribers(t *testing.T) {
	for _, by := range []int32{0, 1, 2, 500, 999} {
		var s Slot
		gen := s.Create()
		var want []int
		for r := int32(1); r < 1000; r++ {
			if st, answer := s.Subscribe(gen, r); st != Pending || answer {
				t.Fatalf("rank %d: %d, %v", r, st, answer)
			}
			if r != by {
				want = append(want, int(r))
			}
		}
		if s.Subscribers() != 999 {
			t.Errorf("%d subscribers", s.Subscribers())
		}
		_, tell, _ := s.Trigger(gen, by, nil)
		if got := members(tell); !slices.Equal(got, want) || tell.Len() != len(want) {
			t.Errorf("by rank %d: %d are told, want %d", by, len(got), len(want))
		}
		if s.Subscribers() != 0 {
			t.Errorf("%d subscribers after the trigger", s.Subscribers())
		}
		next := s.Create()
		s.Subscribe(next, 7)
		if _, tell := triggered(t, &s, nil); !slices.Equal(members(tell), []int{7}) {
			t.Errorf("the next generation tells %v", members(tell))
		}
		if got := members(tell); !slices.Equal(got, want) {
			t.Error("the set has changed after it was returned")
		}
	}
}

// TestSlotSubscribeLate: a subscription to a triggered generation is answered at once, one to an unknown generation is
// not.
func TestSlotSubscribeLate(t *testing.T) {
	var s Slot
	cycle(t, &s, 3, 2)
	for gen := uint32(1); gen <= 3; gen++ {
		if st, answer := s.Subscribe(gen, 1); st != Triggered || !answer {
			t.Errorf("generation %d: %d, %v", gen, st, answer)
		}
	}
	for _, gen := range []uint32{0, 4, MaxGen} {
		if st, answer := s.Subscribe(gen, 1); st != Unknown || answer {
			t.Errorf("generation %d: %d, %v", gen, st, answer)
		}
	}
	gen, poisoned := s.Update()
	if gen != 3 || poisoned.findPoison(2) == nil || poisoned.findPoison(1) != nil || poisoned.findPoison(3) != nil {
		t.Errorf("the update says generation %d, %+v", gen, poisoned)
	}
	s.Create()
	triggered(t, &s, because(4))
	if poisoned.findPoison(4) != nil {
		t.Error("an update has changed after it was made")
	}
}

// TestSlotExpect: the subscription that its rank's own trigger has overtaken needs no answer, however late it comes.
// All others need one.
func TestSlotExpect(t *testing.T) {
	var s Slot
	gen := s.Create()
	s.Subscribe(gen, 4)
	for _, r := range []int32{3, 4} {
		s.Expect(gen, r)
	}
	s.Trigger(gen, 3, nil)
	cycle(t, &s, 2)
	s.Expect(gen, 8) // the trigger was in vain, so the question is still one
	for _, c := range []struct {
		gen    uint32
		rank   int32
		answer bool
	}{{gen + 1, 3, true}, {gen, 3, false}, {gen, 3, true}, {gen, 4, true}, {gen, 8, true}, {gen, 5, true}} {
		if st, answer := s.Subscribe(c.gen, c.rank); st != Triggered || answer != c.answer {
			t.Errorf("generation %d, rank %d: %d, %v", c.gen, c.rank, st, answer)
		}
	}
	if len(s.extra.questions) != 0 {
		t.Errorf("%d are still expected", len(s.extra.questions))
	}
}

// TestSlotUnsubscribe: a rank that has died is not told, and what it had on its way is not expected.
func TestSlotUnsubscribe(t *testing.T) {
	for dead := int32(1); dead <= 6; dead++ {
		var s Slot
		s.Unsubscribe(dead)
		gen := s.Create()
		var want []int
		for r := int32(1); r <= 5; r++ {
			if s.Subscribe(gen, r); r != dead {
				want = append(want, int(r))
			}
		}
		s.Expect(gen, 6)
		s.Unsubscribe(dead)
		if _, tell, _ := s.Trigger(gen, 0, nil); !slices.Equal(members(tell), want) {
			t.Errorf("rank %d is dead: %v are told", dead, members(tell))
		}
		if n := len(s.extra.questions); n != 1 && dead != 6 || n != 0 && dead == 6 {
			t.Errorf("rank %d is dead: %d are expected", dead, n)
		}
	}
	var forgotten Slot
	forgotten.Forget()
	forgotten.Unsubscribe(1)
}

// TestSlotLocalAllocates: create, wait, trigger of one rank never allocate.
func TestSlotLocalAllocates(t *testing.T) {
	var s Slot
	ws := make([]Waiter, 3)
	if n := testing.AllocsPerRun(100, func() {
		gen := s.Create()
		for i := range ws {
			s.Wait(gen, &ws[i])
		}
		woken, _, _ := s.Trigger(gen, 0, nil)
		for woken.Pop() != nil {
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestSlotLeave: who waits for the generation that is alive can leave. Who does not wait yet, or whose generation has
// triggered, is not touched.
func TestSlotLeave(t *testing.T) {
	var s Slot
	ws := waiters(3)
	gen := s.Create()
	for _, w := range ws[:2] {
		s.Wait(gen, w)
	}
	if !s.Leave(gen, ws[0]) || s.Leave(gen, ws[0]) || s.Leave(gen, ws[2]) || s.Leave(gen+1, ws[1]) {
		t.Error("the wrong ones have left")
	}
	woken, _, _ := s.Trigger(gen, NoRank, nil)
	if s.Leave(gen, ws[1]) {
		t.Error("one has left that is woken")
	}
	if got := woken.all(); len(got) != 1 || got[0] != ws[1] {
		t.Errorf("%v are woken", got)
	}
}
