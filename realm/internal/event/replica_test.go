package event

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func ask(t *testing.T, r *Replica, gen uint32, w *Waiter, wantAsk bool) {
	t.Helper()
	if st, _, ask := r.Wait(gen, w); st != Pending || ask != wantAsk {
		t.Fatalf("wait for generation %d: %d, ask %v; want ask %v", gen, st, ask, wantAsk)
	}
}

func known(t *testing.T, r *Replica, gen uint32, want Status, why *Poison) {
	t.Helper()
	if st, got := r.Look(gen); st != want || got != why {
		t.Errorf("generation %d: %d, %v; want %d, %v", gen, st, got, want, why)
	}
}

// poisons has these generations poisoned.
func poisons(gens ...uint32) *Poisons {
	var p Poisons
	for _, g := range gens {
		p.Add(g, because(g))
	}
	return &p
}

// TestReplicaUpdate: an update ends the waits up to its generation, outdated and gapped ones too. Waits for a future
// one stay.
func TestReplicaUpdate(t *testing.T) {
	var r Replica
	w := map[uint32]*Waiter{}
	for _, gen := range []uint32{7, 3, 12, 5, 20} {
		w[gen] = new(Waiter)
		ask(t, &r, gen, w[gen], true)
	}
	second := new(Waiter)
	ask(t, &r, 3, second, false)
	p := poisons(2, 3, 7, 9)
	woken := r.Update(9, p)
	if got := woken.all(); len(got) != 4 || w[3].Poison != p.findPoison(3) || second.Poison != p.findPoison(3) ||
		w[7].Poison != p.findPoison(7) || w[5].Poison != nil {
		t.Errorf("%d woken", len(got))
	}
	for gen := range uint32(10) {
		if gen > 0 {
			known(t, &r, gen, Triggered, p.findPoison(gen))
		}
	}
	known(t, &r, 0, Unknown, nil)
	known(t, &r, 10, Pending, nil)
	ask(t, &r, 12, new(Waiter), false)
	ask(t, &r, 10, new(Waiter), true)
	if woken := r.Update(12, p); woken.Len() != 3 {
		t.Errorf("%d woken", woken.Len())
	}
	if woken := r.Update(20, p); !slices.Equal(woken.all(), []*Waiter{w[20]}) {
		t.Errorf("%d woken", woken.Len())
	}
}

// TestReplicaUpdateOrder: updates come in any order; the newest counts.
func TestReplicaUpdateOrder(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 500 {
		var s Slot
		var r Replica
		type update struct {
			gen uint32
			p   *Poisons
		}
		var updates []update
		var ws [20]Waiter
		for gen := uint32(1); gen < uint32(len(ws)); gen++ {
			s.Create()
			ask(t, &r, gen, &ws[gen], true)
			var why *Poison
			if rng.IntN(2) == 0 && !s.Retired() {
				why = because(gen)
			}
			triggered(t, &s, why)
			g, p := wire(t, &s)
			updates = append(updates, update{g, p})
		}
		woken := 0
		for _, i := range rng.Perm(len(updates)) {
			l := r.Update(updates[i].gen, updates[i].p)
			for w := l.Pop(); w != nil; w = l.Pop() {
				woken++
			}
		}
		if woken != len(ws)-1 {
			t.Fatalf("%d woken", woken)
		}
		for gen := uint32(1); gen < uint32(len(ws)); gen++ {
			if _, why := s.Look(gen); (why == nil) != (ws[gen].Poison == nil) {
				t.Fatalf("generation %d: woken with %v, poison %v", gen, ws[gen].Poison, why)
			}
		}
	}
}

// TestReplicaTrigger: a trigger wakes the waiters of this rank at once, once, and the owner is told. It says nothing of
// earlier generations, which may have been poisoned.
func TestReplicaTrigger(t *testing.T) {
	var r Replica
	earlier, w := new(Waiter), new(Waiter)
	ask(t, &r, 4, earlier, true)
	ask(t, &r, 5, w, true)
	if !r.Asked(5) || r.Asked(6) || r.Asked(0) {
		t.Error("Asked")
	}
	why := because(5)
	if woken, st := r.Trigger(5, why); st != Pending || !slices.Equal(woken.all(), []*Waiter{w}) || w.Poison != why {
		t.Errorf("%d, %d woken with %v", st, woken.Len(), w.Poison)
	}
	known(t, &r, 5, Triggered, why)
	known(t, &r, 4, Pending, nil)
	known(t, &r, 6, Pending, nil)
	if woken, st := r.Trigger(5, nil); st != Triggered || !woken.Empty() {
		t.Errorf("twice: %d, %d woken", st, woken.Len())
	}
	if woken, st := r.Trigger(0, nil); st != Unknown || !woken.Empty() {
		t.Errorf("generation 0: %d", st)
	}
	if st, got, ask := r.Wait(5, new(Waiter)); st != Triggered || got != why || ask {
		t.Errorf("a wait after it: %d, %v, %v", st, got, ask)
	}
	if woken := r.Update(6, poisons(4, 5)); !slices.Equal(woken.all(), []*Waiter{earlier}) || len(r.own) != 0 {
		t.Errorf("%d woken, %d own triggers", woken.Len(), len(r.own))
	}
	if woken, st := r.Trigger(6, nil); st != Triggered || !woken.Empty() {
		t.Errorf("a trigger of what the owner has told of: %d", st)
	}
}

// TestReplicaOwn: own triggers in a row are remembered as one run. Of more than maxOwn runs the oldest is forgotten:
// the owner is asked for it.
func TestReplicaOwn(t *testing.T) {
	var r Replica
	trigger := func(gen uint32, why *Poison) {
		t.Helper()
		if _, st := r.Trigger(gen, why); st != Pending {
			t.Fatalf("generation %d: %d", gen, st)
		}
	}
	for gen := uint32(1); gen <= 1000; gen++ {
		trigger(gen, nil)
	}
	if len(r.own) != 1 {
		t.Errorf("%d runs", len(r.own))
	}
	why := because(1001)
	trigger(1001, why)
	trigger(1002, why)
	trigger(1003, nil)
	if len(r.own) != 3 {
		t.Errorf("%d runs", len(r.own))
	}
	for i := range uint32(maxOwn - 3) {
		trigger(1005+2*i, nil)
	}
	known(t, &r, 1, Triggered, nil)
	known(t, &r, 1000, Triggered, nil)
	known(t, &r, 1001, Triggered, why)
	known(t, &r, 1003, Triggered, nil)
	known(t, &r, 1004, Pending, nil)
	known(t, &r, 1006, Pending, nil)
	trigger(2000, nil)
	if len(r.own) != maxOwn {
		t.Errorf("%d runs", len(r.own))
	}
	known(t, &r, 1000, Pending, nil)
	known(t, &r, 2000, Triggered, nil)
	ask(t, &r, 1000, new(Waiter), true)
	if woken := r.Update(1010, nil); woken.Len() != 1 {
		t.Errorf("%d woken", woken.Len())
	}
	known(t, &r, 1011, Triggered, nil)
	known(t, &r, 2000, Triggered, nil)
	r.Update(3000, nil)
	if len(r.own) != 0 {
		t.Errorf("%d runs", len(r.own))
	}
}

// TestReplicaIdle: a replica may be forgotten once no question is open, whether somebody waits for the answer or not.
func TestReplicaIdle(t *testing.T) {
	var r Replica
	idle := func(want bool) {
		t.Helper()
		if r.Idle() != want {
			t.Errorf("idle %v", !want)
		}
	}
	idle(true)
	if !r.Ask(3) || r.Ask(3) || r.Ask(0) {
		t.Error("the owner is to be asked once, for a generation that can be")
	}
	idle(false)
	w := new(Waiter)
	ask(t, &r, 3, w, false)
	ask(t, &r, 4, w, true)
	r.Withdraw(4, w)
	r.Update(3, nil)
	idle(false)
	if r.Ask(3) || r.Ask(4) {
		t.Error("the owner is to be asked for what is known, or has been asked")
	}
	r.Trigger(4, nil)
	idle(true)
	if r.Ask(4) || !r.Ask(5) {
		t.Error("the owner is to be asked for what this rank has triggered, or not for what it knows nothing of")
	}
	r.Die(because(1))
	idle(true)
	if r.Ask(6) {
		t.Error("an owner that has died is to be asked")
	}
}

// TestReplicaWithdraw: a waiter that is withdrawn is not woken. The subscription stays, and the owner is not asked
// again.
func TestReplicaWithdraw(t *testing.T) {
	var r Replica
	w, other := new(Waiter), new(Waiter)
	ask(t, &r, 2, w, true)
	ask(t, &r, 9, other, true)
	if r.Withdraw(9, w) || r.Withdraw(0, w) || r.Withdraw(3, w) || !r.Withdraw(2, w) || r.Withdraw(2, w) {
		t.Error("a waiter is withdrawn once, from its generation")
	}
	ask(t, &r, 2, w, false)
	r.Withdraw(2, w)
	if woken := r.Update(5, nil); !woken.Empty() {
		t.Errorf("%d woken", woken.Len())
	}
	if r.Withdraw(2, w) {
		t.Error("withdrawn after the trigger")
	}
	if !r.Withdraw(9, other) {
		t.Error("a later wait is gone")
	}
}

// TestReplicaDie: all that wait are woken with the death. What is known stays, and all else counts as ended.
func TestReplicaDie(t *testing.T) {
	var r Replica
	p := poisons(2)
	r.Update(3, p)
	ws := waiters(4)
	for i, gen := range []uint32{9, 5, 7, 5} {
		ask(t, &r, gen, ws[i], i != 3)
	}
	r.Trigger(4, nil)
	died := &Poison{Text: "died"}
	seen := map[uint32]int{}
	r.Waiters(func(gen uint32, _ *Waiter) { seen[gen]++ })
	if len(seen) != 3 || seen[5] != 2 {
		t.Errorf("waiters %v", seen)
	}
	if woken := r.Die(died); woken.Len() != 4 {
		t.Errorf("%d woken", woken.Len())
	}
	for _, w := range ws {
		if w.Poison != died {
			t.Errorf("woken with %v", w.Poison)
		}
	}
	known(t, &r, 2, Triggered, p.findPoison(2))
	known(t, &r, 3, Triggered, nil)
	known(t, &r, 4, Triggered, nil)
	known(t, &r, 8, Triggered, died)
	if st, why, ask := r.Wait(8, ws[0]); st != Triggered || why != died || ask {
		t.Errorf("a wait after it: %d, %v, %v", st, why, ask)
	}
	if woken, st := r.Trigger(8, nil); st != Triggered || !woken.Empty() {
		t.Errorf("a trigger after it: %d", st)
	}
	if r.Asked(5) {
		t.Error("a question is open")
	}
}
