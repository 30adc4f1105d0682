package dtype

import (
	"math"
	"sync/atomic"
)

// Type is a datatype: a list of basics with their places, which is its type map, and bounds. It does not change after
// it was made, but for Commit, so any number of goroutines may use it.
type Type struct {
	combiner Combiner
	basic    Basic   // of a predefined type with a name
	large    bool    // made by a constructor with large counts
	marked   bool    // bounds were set by Resized, of this type or of a component
	align    int64   // the greatest alignment of its basics
	ints     []int64 // arguments of the constructor, as Contents has them
	addrs    []int64
	types    []*Type

	// The type map: reps times, step bytes apart, the blocks in their order. A basic that is no pair has no blocks.
	reps, step int64
	blocks     []block

	size           int64 // bytes of data
	lb, ub         int64
	trueLB, trueUB int64 // bounds of the data alone
	basics         int64 // how many; a pair has two
	sum            sum   // of its signature

	program   atomic.Pointer[node] // made at Commit or first use; two at once make the same
	committed atomic.Bool
}

// block is n copies of a type, one behind the other, the first one at disp.
type block struct {
	n, disp int64
	t       *Type
}

// Size is the number of bytes of data (5.1.5).
func (t *Type) Size() int64 { return t.size }

// Bounds are lower bound and extent (5.1.7).
func (t *Type) Bounds() (lb, extent int64) { return t.lb, t.ub - t.lb }

// TrueBounds are lower bound and extent of the data alone (5.1.8).
func (t *Type) TrueBounds() (lb, extent int64) { return t.trueLB, t.trueUB - t.trueLB }

// Align is the greatest alignment of a basic of t, 1 if there is none.
func (t *Type) Align() int64 { return max(t.align, 1) }

// Basics is the number of basics in the type map.
func (t *Type) Basics() int64 { return t.basics }

// Basic is the number of a predefined type with a name, 0 of others.
func (t *Type) Basic() Basic { return t.basic }

// Predefined reports that nobody may free t.
func (t *Type) Predefined() bool {
	switch t.combiner {
	case CombinerNamed, CombinerF90Real, CombinerF90Complex, CombinerF90Integer, CombinerValueIndex:
		return true
	}
	return false
}

// Dense reports that the data lie in one piece from the beginning on, in the order of the type map. The next element
// follows at once, so count elements are count·Size bytes.
func (t *Type) Dense() bool {
	p := t.prog()
	return p.kind == runNode && p.off == 0 && p.len == t.ub-t.lb
}

// Plain reports that t is a predefined type with a name, of one basic without holes. All such types are Dense.
func (t *Type) Plain() bool { return t.basic != 0 && t.blocks == nil && t.lb == 0 && t.size == t.ub }

// Absolute reports that no data lie at the beginning of an element, so that places may be addresses (MPI_BOTTOM).
func (t *Type) Absolute() bool { return t.trueLB != 0 }

// Commit makes the program that moves the data, if there is none yet (5.1.9).
func (t *Type) Commit() {
	t.prog()
	t.committed.Store(true)
}

// Committed reports whether t may be used in a message.
func (t *Type) Committed() bool { return t.committed.Load() }

// Bytes is the size of count elements; !ok: count is negative, or the size is no int64.
func (t *Type) Bytes(count int64) (n int64, ok bool) {
	var c checked
	n = c.mul(count, t.size)
	return n, count >= 0 && !c.overflow
}

// Large marks t as made by a constructor with large counts, for Envelope. Only the maker of t may call it, before
// anybody else knows t.
func (t *Type) Large() *Type {
	t.large = true
	return t
}

// checked is arithmetic that notes an overflow.
type checked struct{ overflow bool }

func (c *checked) addChecked(a, b int64) int64 {
	s := a + b
	c.overflow = c.overflow || (a > 0 && b > 0 && s < 0) || (a < 0 && b < 0 && s >= 0)
	return s
}

func (c *checked) mul(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	p := a * b
	c.overflow = c.overflow || p/b != a || a == math.MinInt64 || b == math.MinInt64
	return p
}
