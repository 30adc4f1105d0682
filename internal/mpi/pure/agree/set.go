package agree

import (
	"iter"
	"math/bits"
	"slices"
)

// Set is a set of ranks of a communicator, a bit each. Sets of one agreement have the same length.
type Set []uint64

// NewSet is the empty set for a communicator of so many ranks.
func NewSet(ranks int) Set { return make(Set, (ranks+63)/64) }

// Add puts a rank in.
func (s Set) Add(rank int) { s[rank/64] |= 1 << (rank % 64) }

// Has tells whether a rank is in.
func (s Set) Has(rank int) bool { return s[rank/64]>>(rank%64)&1 != 0 }

// Join puts the ranks of another set in.
func (s Set) Join(t Set) {
	for i, w := range t {
		s[i] |= w
	}
}

// Meet takes out the ranks that are not in another set.
func (s Set) Meet(t Set) {
	for i, w := range t {
		s[i] &= w
	}
}

// Minus is the ranks that are not in another set.
func (s Set) Minus(t Set) Set {
	out := slices.Clone(s)
	for i, w := range t {
		out[i] &^= w
	}
	return out
}

// Len is the number of ranks.
func (s Set) Len() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// All lists the ranks in order.
func (s Set) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range s {
			for ; w != 0; w &= w - 1 {
				if !yield(i*64 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// fits tells whether all ranks are below a number, and the length is that of NewSet.
func (s Set) fits(ranks int) bool {
	return len(s) == (ranks+63)/64 && (ranks%64 == 0 || s[len(s)-1]>>(ranks%64) == 0)
}
