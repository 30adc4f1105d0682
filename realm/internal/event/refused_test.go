package event

import "testing"

// TestRefusedSet: a set has what was put into it, once, and an older set does not change with it.
func TestRefusedSet(t *testing.T) {
	a, b, c := MakeReservation(0, 1), MakeReservation(0, 2), MakeReservation(1, 1)
	var none *Refused
	one := none.With(a)
	two := one.With(b)
	if none.Len() != 0 || none.Has(a) || one.Len() != 1 || one.Has(b) || two.Len() != 2 || !two.Has(a) || !two.Has(b) ||
		two.Has(c) || two.With(a) != two {
		t.Errorf("%v, %v", one, two)
	}
	both := none.With(b).With(c).Join(one)
	if both.Len() != 3 || !both.Has(a) || !both.Has(b) || !both.Has(c) || none.Join(one) != one || one.Join(none) != one {
		t.Errorf("joined: %v", both)
	}
	if one.equal(two) || !two.equal(none.With(a).With(b)) || two.equal(none.With(a).With(c)) || !none.equal(nil) {
		t.Error("equal is wrong")
	}
}

// TestDataOfEachRun: generations in a row with other data are other runs, and each keeps its data when its cause is
// forgotten, here and behind the bytes, before and after the slot is retired.
func TestDataOfEachRun(t *testing.T) {
	var s Slot
	lock := func(gen uint32) ID { return MakeReservation(1, int(gen)) }
	for gen := s.Create(); !s.Retired(); gen = s.Create() {
		why := because(gen)
		why.Errors, why.Refused = 1<<gen, why.Refused.With(lock(gen))
		triggered(t, &s, why)
	}
	check := func(when string, find func(gen uint32) *Poison) {
		for gen := uint32(1); gen <= MaxRuns; gen++ {
			p := find(gen)
			if p == nil || p.Errors != 1<<gen || p.Refused.Len() != 1 || !p.Refused.Has(lock(gen)) {
				t.Errorf("%s: generation %d has %+v", when, gen, p)
			}
			if forgotten := p.Rank == NoRank; forgotten && gen == MaxRuns {
				t.Errorf("%s: the newest cause is forgotten", when)
			}
		}
	}
	here := func(gen uint32) *Poison { _, p := s.Look(gen); return p }
	there := func(gen uint32) *Poison { _, p := wire(t, &s); return p.findPoison(gen) }
	check("before", here)
	check("before, elsewhere", there)
	s.Retire()
	check("retired", here)
	check("retired, elsewhere", there)
}
