package event

import "slices"

// Exact is how many retired slots of a rank keep the outcome of each generation. Older ones are to be forgotten.
const Exact = 4096

// forgotten is shared by all slots that are used up, and does not change.
var forgotten = slotExtra{poisoned: Poisons{forgotten: MaxGen}}

// Retire makes a slot small that is Retired and not Alive. It keeps which generations were poisoned, the data of each
// poison, and the newest cause: a rank that is about to ask for that has had no time to. It tells whether anything is
// kept that Forget would free.
func (s *Slot) Retire() bool {
	if s.extra == nil || s.extra.poisoned.isEmpty() {
		return false
	}
	p := &s.extra.poisoned
	newest := p.causes[max(0, len(p.causes)-1):]
	*p = Poisons{forgotten: p.forgotten, runs: slices.Clone(p.runs), causes: slices.Clone(newest)}
	return true
}

// Forget has all generations of a slot that is not Alive count as poisoned from now on, since their outcomes have been
// forgotten. It is not Retired any more, unless it has used up the numbers.
func (s *Slot) Forget() {
	if s.gen == MaxGen {
		*s = Slot{gen: MaxGen, extra: &forgotten}
		return
	}
	s.theRare().poisoned = Poisons{forgotten: s.gen}
}

// Retired is the queue of the retired slots, by index, that keep the outcome of each generation. The zero value is
// empty.
type Retired struct {
	ring []int32
	next int
}

// Add puts the slot with that index in, which has been retired. If there are Exact others, it takes out the oldest,
// which the caller is to Forget.
func (r *Retired) Add(index int) (oldest int, full bool) {
	if len(r.ring) < Exact {
		r.ring = append(r.ring, int32(index))
		return 0, false
	}
	oldest = int(r.ring[r.next])
	r.ring[r.next] = int32(index)
	r.next = (r.next + 1) % Exact
	return oldest, true
}
