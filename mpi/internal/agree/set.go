package agree

import (
	"encoding/binary"
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

// intersectWith takes out the ranks that are not in another set.
func (s Set) intersectWith(t Set) {
	for i, w := range t {
		s[i] &= w
	}
}

// subtractSet is the ranks that are not in another set.
func (s Set) subtractSet(t Set) Set {
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

// fitsSize tells whether all ranks are below a number, and the length is that of NewSet.
func (s Set) fitsSize(ranks int) bool {
	return len(s) == (ranks+63)/64 && (ranks%64 == 0 || s[len(s)-1]>>(ranks%64) == 0)
}

// runs lists the first rank and the length of each run of consecutive ranks, in order.
func (s Set) runs() iter.Seq2[int, int] {
	return func(yield func(first, count int) bool) {
		first, count := 0, 0
		for r := range s.All() {
			if count > 0 && r == first+count {
				count++
				continue
			}
			if count > 0 && !yield(first, count) {
				return
			}
			first, count = r, 1
		}
		if count > 0 {
			yield(first, count)
		}
	}
}

// appendTo appends the set in bytes, which parseSet reads. They are the number of its runs, and two numbers for each:
// the ranks between it and the one before, and how many more than one it has. So a set takes few bytes if few have
// failed, or all of a node.
func (s Set) appendTo(b []byte) []byte {
	n := 0
	for range s.runs() {
		n++
	}
	b = binary.AppendUvarint(b, uint64(n))
	end := 0
	for first, count := range s.runs() {
		b = binary.AppendUvarint(b, uint64(first-end))
		b = binary.AppendUvarint(b, uint64(count-1))
		end = first + count
	}
	return b
}

// parseSet reads a set of a communicator of so many ranks, and returns the bytes behind it; !ok: there is none.
func parseSet(b []byte, ranks int) (s Set, rest []byte, ok bool) {
	n, b, ok := number(b, len(b)/2)
	s = NewSet(ranks)
	for end := 0; ok && n > 0; n-- {
		var gap, more int
		if gap, b, ok = number(b, ranks-end); !ok {
			break
		}
		if more, b, ok = number(b, ranks-end-gap-1); !ok || gap == 0 && end > 0 {
			return nil, nil, false
		}
		for r := end + gap; r <= end+gap+more; r++ {
			s.Add(r)
		}
		end += gap + more + 1
	}
	return s, b, ok
}

// number reads a number up to most, in as few bytes as can be.
func number(b []byte, most int) (v int, rest []byte, ok bool) {
	u, n := binary.Uvarint(b)
	if n <= 0 || most < 0 || u > uint64(most) || n > 1 && b[n-1] == 0 {
		return 0, nil, false
	}
	return int(u), b[n:], true
}
