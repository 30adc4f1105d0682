package event

import "slices"

// Exact is how many retired slots of a rank keep the outcome of each generation. Older ones are to be forgotten.
const Exact = 4096

var (
	noOutcome = Poison{Rank: NoRank, Text: "triggered; the outcome has been forgotten"}
	// forgotten is shared by all slots and does not change.
	forgotten = rare{poisoned: Poisons{[]run{{1, MaxGen}}, []cause{{0, &noOutcome}}}}
)

// Retire makes a slot small that is Retired and not Alive. It keeps which generations were poisoned, but not why. It
// tells whether anything is kept that Forget would free.
func (s *Slot) Retire() bool {
	if s.rare == nil || len(s.rare.poisoned.runs) == 0 {
		return false
	}
	s.rare.poisoned = Poisons{runs: slices.Clone(s.rare.poisoned.runs)}
	return true
}

// Forget has all generations of a retired slot count as poisoned from now on, since their outcomes have been forgotten.
func (s *Slot) Forget() { *s = Slot{gen: MaxGen, rare: &forgotten} }

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
