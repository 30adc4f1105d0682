package event

import (
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

// TestRetireAtPoisonLimit: a slot is retired after MaxRuns runs of poisoned generations. It keeps which were poisoned,
// but not why, until it is forgotten.
func TestRetireAtPoisonLimit(t *testing.T) {
	var s Slot
	for gen := s.Create(); ; gen = s.Create() {
		if s.Expect(gen, 3); gen%3 == 0 {
			triggered(t, &s, nil)
		} else {
			triggered(t, &s, because(gen))
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
		if _, why := s.Look(gen); why != nil && (why.Rank != NoRank || why.Err != nil) {
			t.Errorf("the cause is %+v", why)
		}
	}
	if why := before.Find(last); why == nil || why.Rank == NoRank {
		t.Error("an update from before has lost its causes")
	}
	if _, answer := s.Subscribe(1, 3); answer {
		t.Error("an expected subscription is answered")
	}
	s.Forget()
	for gen := uint32(1); gen <= last; gen++ {
		look(t, &s, gen, Triggered, true)
	}
	look(t, &s, MaxGen+1, Unknown, false)
	if !s.Retired() {
		t.Error("not retired when forgotten")
	}
	if st, answer := s.Subscribe(1, 3); st != Triggered || !answer {
		t.Errorf("subscription to a forgotten slot: %d, %v", st, answer)
	}
	var r Replica
	r.Update(wire(t, &s))
	if st, why := r.Look(1); st != Triggered || why == nil || why.Rank != NoRank {
		t.Errorf("another rank is told %d, %+v", st, why)
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
			x.slots[oldest].Forget()
		}
	}
}

// TestLoopMemory creates and triggers events in a loop, one at a time. All poisoned: one slot serves all generations.
// Every other poisoned, the worst case: slots are retired, and what they keep is bounded.
func TestLoopMemory(t *testing.T) {
	const most = 5 << 18 // bytes: Exact slots of 320 bytes
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
				why = &Poison{Text: "cancelled", Err: errBig{}}
			}
			x.trigger(index, why)
		}
		grown := heapInUse() - heap - int64(cap(x.slots))*24
		if want := 1 + n/MaxGen; every == 1 && len(x.slots) != want || grown > most {
			t.Errorf("one of %d poisoned: %d events in %d slots, %d bytes", every, n, len(x.slots), grown)
		}
		runtime.KeepAlive(&x)
	}
}

type errBig [1 << 10]byte

func (errBig) Error() string { return "big" }

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
