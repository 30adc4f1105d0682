package event

import (
	"errors"
	"runtime"
	"testing"
)

// TestRetireAtLastGeneration begins just before the numbers end.
func TestRetireAtLastGeneration(t *testing.T) {
	for _, poisoned := range [][]uint32{nil, {MaxGen - 1}, {MaxGen}} {
		s := Slot{gen: MaxGen - 2}
		for s.gen < MaxGen {
			if s.Retired() {
				t.Fatalf("retired at generation %d", s.gen)
			}
			cycle(t, &s, 1, poisoned...)
		}
		if !s.Retired() {
			t.Error("not retired after the last generation")
		}
		if kept := s.Retire(); kept != (poisoned != nil) {
			t.Errorf("poisoned %v: Retire tells %v", poisoned, kept)
		}
		for gen := uint32(MaxGen - 2); gen <= MaxGen; gen++ {
			look(t, &s, gen, Triggered, poisoned != nil && poisoned[0] == gen)
		}
		look(t, &s, MaxGen+1, Unknown, false)
	}
}

// TestForgetAtLastGeneration: a slot that has used up its numbers is never used again. Once it is forgotten it has no
// memory of its own beside itself.
func TestForgetAtLastGeneration(t *testing.T) {
	var a, b Slot
	for _, s := range []*Slot{&a, &b} {
		s.gen = MaxGen - 1
		cycle(t, s, 1, MaxGen)
		s.Retire()
		s.Forget()
		look(t, s, 1, Triggered, true)
		look(t, s, MaxGen, Triggered, true)
		if !s.Retired() {
			t.Error("a slot without further numbers is used again")
		}
	}
	if a.extra != b.extra {
		t.Error("each of two such slots keeps what it knows")
	}
}

// TestRetireAtPoisonLimit: a slot is retired after MaxRuns runs of poisoned generations. It keeps which were poisoned,
// their data and the newest cause until it is forgotten.
func TestRetireAtPoisonLimit(t *testing.T) {
	var s Slot
	for gen := s.Create(); ; gen = s.Create() {
		if s.Expect(gen, 3); gen%3 == 0 {
			triggered(t, &s, nil)
		} else {
			triggered(t, &s, refusing(gen/3))
		}
		if runs := int(gen+2) / 3; s.Retired() != (runs == MaxRuns) {
			t.Fatalf("%d runs, retired %v", runs, s.Retired())
		}
		if s.Retired() {
			break
		}
	}
	last := s.gen
	_, before := s.Update()
	if !s.Retire() {
		t.Error("nothing is kept")
	}
	for gen := uint32(1); gen <= last; gen++ {
		look(t, &s, gen, Triggered, gen%3 != 0)
		_, why := s.Look(gen)
		if want := refusing(gen / 3); gen == last && !equal(why, want) || gen < last-3 && why != nil && !equal(why, want.data()) {
			t.Errorf("the poison of generation %d is %+v, not that of %+v", gen, why, want)
		}
	}
	if why := before.findPoison(last); why == nil || why.Rank == NoRank {
		t.Error("an update from before has lost its causes")
	}
	if _, answer := s.Subscribe(1, 3); answer {
		t.Error("an expected subscription is answered")
	}
	s.Forget()
	for gen := uint32(1); gen <= last; gen++ {
		look(t, &s, gen, Triggered, true)
	}
	look(t, &s, last+1, Unknown, false)
	if s.Retired() {
		t.Error("retired when forgotten")
	}
	if st, answer := s.Subscribe(1, 3); st != Triggered || !answer {
		t.Errorf("subscription to a forgotten generation: %d, %v", st, answer)
	}
	var r Replica
	r.Update(wire(t, &s))
	if st, why := r.Look(1); st != Triggered || why == nil || why.Rank != NoRank {
		t.Errorf("another rank is told %d, %+v", st, why)
	}
}

// TestForgottenGoesOn: a slot whose outcomes have been forgotten goes on with its next generation, and remembers those
// that follow as it did the first. So it does until the numbers end.
func TestForgottenGoesOn(t *testing.T) {
	for _, first := range []uint32{0, MaxGen - 3*MaxRuns} {
		s := Slot{gen: first}
		for round := 0; round < 4 && s.gen < MaxGen; round++ {
			before := s.gen
			for gen := s.Create(); ; gen = s.Create() {
				var why *Poison
				if gen%2 == 1 {
					why = because(gen)
				}
				triggered(t, &s, why)
				_, far := s.Update()
				for g := uint32(1); g <= gen; g += 1 + gen/64 {
					forgotten := round > 0 && g <= before
					look(t, &s, g, Triggered, forgotten || g%2 == 1 && g > first)
					if far.forgot(g) != forgotten {
						t.Fatalf("round %d: generation %d of %d, others are told that it is forgotten: %v", round, g, gen, !forgotten)
					}
				}
				if s.Retired() {
					break
				}
			}
			if _, why := s.Look(s.gen - s.gen%2 - 1); why == nil || why.Rank == NoRank {
				t.Errorf("round %d: the last poison is %+v", round, why)
			}
			if !s.Retire() {
				t.Errorf("round %d: nothing is kept", round)
			}
			look(t, &s, before+1, Triggered, (before+1)%2 == 1)
			if s.Forget(); s.Retired() != (s.gen == MaxGen) {
				t.Errorf("round %d: retired at generation %d when forgotten: %v", round, s.gen, s.Retired())
			}
		}
		if first > 0 && s.gen != MaxGen {
			t.Errorf("generation %d is the last", s.gen)
		}
	}
}

// TestForgottenAnswer: who asks for a forgotten generation gets an answer to just that. Who has asked in time does not
// take a later update for the answer, in whatever order both come.
func TestForgottenAnswer(t *testing.T) {
	var s Slot
	cycle(t, &s, 1, 1)
	_, early := s.Update()
	s.Forget()
	cycle(t, &s, 1, 2)
	for _, late := range []bool{false, true} {
		var r Replica
		var one, two Waiter
		ask(t, &r, 1, &one, true)
		ask(t, &r, 2, &two, true)
		if got := r.Update(wire(t, &s)); got.Pop() != &two || !got.Empty() || two.Poison.Text != "cause 2" {
			t.Errorf("the update of generation 2 wakes others than its waiter, or with %+v", two.Poison)
		}
		known(t, &r, 1, Pending, nil)
		gen, told := uint32(1), early
		if late {
			gen, told = s.UpdateFor(1)
		}
		got := r.Update(gen, told)
		if got.Pop() != &one || (*one.Poison == noOutcome) != late || !r.Idle() {
			t.Errorf("late %v: the answer to generation 1 says %+v", late, one.Poison)
		}
		if gen, told := s.UpdateFor(2); gen != 2 || told.findPoison(2).Text != "cause 2" {
			t.Errorf("the answer to generation 2 is of %d, %+v", gen, told)
		}
	}
}

// wire is an update of s as another rank gets it.
func wire(t *testing.T, s *Slot) (gen uint32, poisoned *Poisons) {
	t.Helper()
	gen, p := s.Update()
	poisoned, err := ParsePoisons(p.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	return gen, poisoned
}

// TestRetiredQueue: the oldest comes out once there are Exact others.
func TestRetiredQueue(t *testing.T) {
	var r Retired
	for i := range 3 * Exact {
		oldest, full := r.Add(i)
		if full != (i >= Exact) || full && oldest != i-Exact {
			t.Fatalf("%d: %d, %v", i, oldest, full)
		}
	}
}

// table owns slots as a rank does: one that can have no further generation is retired.
type table struct {
	slots   []Slot
	free    []int
	retired Retired
}

func (x *table) create() (index int, gen uint32) {
	if len(x.free) == 0 {
		x.free = append(x.free, len(x.slots))
		x.slots = append(x.slots, Slot{})
	}
	index = x.free[len(x.free)-1]
	x.free = x.free[:len(x.free)-1]
	return index, x.slots[index].Create()
}

func (x *table) trigger(index int, why *Poison) {
	s := &x.slots[index]
	gen, _ := s.Alive()
	s.Trigger(gen, 0, why)
	if !s.Retired() {
		x.free = append(x.free, index)
	} else if s.Retire() {
		if oldest, full := x.retired.Add(index); full {
			if x.slots[oldest].Forget(); !x.slots[oldest].Retired() {
				x.free = append(x.free, oldest)
			}
		}
	}
}

// TestLoopMemory creates and triggers events in a loop, one at a time. All poisoned: one slot serves all generations.
// Every other poisoned, the worst case: slots are retired, but some of them only, and what they keep is bounded.
func TestLoopMemory(t *testing.T) {
	const most = 5 << 19 // bytes: Exact slots of 640 bytes
	for _, every := range []int{1, 2} {
		var x table
		heap := heapInUse()
		n := 1_050_000 * every // more than the generations of one slot, if all are poisoned
		if testing.Short() {
			n /= 10
		}
		for i := range n {
			index, _ := x.create()
			var why *Poison
			if i%every == 0 {
				why = &Poison{Text: "cancelled", Err: errAny}
			}
			x.trigger(index, why)
		}
		grown := heapInUse() - heap - int64(cap(x.slots))*24
		want := 1 + n/MaxGen
		if every == 2 { // as many as keep their outcomes, and one in use
			want = min(Exact+1, 1+n/(2*MaxRuns))
		}
		if len(x.slots) > want || grown > most {
			t.Errorf("one of %d poisoned: %d events in %d slots, %d bytes", every, n, len(x.slots), grown)
		}
		runtime.KeepAlive(&x)
	}
}

var errAny = errors.New("cancelled")

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
