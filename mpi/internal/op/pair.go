package op

import (
	"cmp"
	"unsafe"

	"github.com/golci/golci/internal/platform/simd"
	"github.com/golci/golci/mpi/internal/dtype"
)

// Loc is a value and where it is, as elements of a Go program that MINLOC and MAXLOC combine.
type Loc[V simd.Real] struct {
	Value V
	Index int
}

// hasLocation is MinLoc or MaxLoc on elements Loc[V]; nil for another operation.
func hasLocation[V simd.Real](id ID) Func { return pairsOf[V, int](id) }

// pair is a value and its index as C has them in memory.
type pair[V, I simd.Real] struct {
	value V
	index I
}

// pairsOf are the operations on pairs: the value that is smaller, or larger, and of equal ones the smaller index. What
// is no number is smaller than all others.
func pairsOf[V, I simd.Real](id ID) Func {
	switch id {
	case MinLoc:
		return minLoc[V, I]
	case MaxLoc:
		return maxLoc[V, I]
	}
	return nil
}

func minLoc[V, I simd.Real](out, low, high unsafe.Pointer, n int64) {
	o, l, h := views[pair[V, I]](out, low, high, n)
	for i := range o {
		a, b := &l[i], &h[i]
		if c := cmp.Compare(a.value, b.value); c > 0 || c == 0 && a.index > b.index {
			a = b
		}
		o[i].value, o[i].index = a.value, a.index
	}
}

func maxLoc[V, I simd.Real](out, low, high unsafe.Pointer, n int64) {
	o, l, h := views[pair[V, I]](out, low, high, n)
	for i := range o {
		a, b := &l[i], &h[i]
		if c := cmp.Compare(a.value, b.value); c < 0 || c == 0 && a.index > b.index {
			a = b
		}
		o[i].value, o[i].index = a.value, a.index
	}
}

// order compares two values of a form; nil for forms without an order.
var order = [elems]func(a, b unsafe.Pointer) int{
	int8s: compare[int8], int16s: compare[int16], int32s: compare[int32], int64s: compare[int64],
	uint8s: compare[uint8], uint16s: compare[uint16], uint32s: compare[uint32], uint64s: compare[uint64],
	float32s: compare[float32], float64s: compare[float64],
	int128s:   func(a, b unsafe.Pointer) int { return (*int128)(a).compareTo(*(*int128)(b)) },
	halves:    compareWide[half],
	extendeds: compareWide[extended],
	quads:     compareWide[quad],
}

func compare[T cmp.Ordered](a, b unsafe.Pointer) int { return cmp.Compare(*(*T)(a), *(*T)(b)) }

func compareWide[T wide[T]](a, b unsafe.Pointer) int { return (*(*T)(a)).order(*(*T)(b)) }

// part is where a value or an index lies in a pair.
type part struct{ at, size uintptr }

// copyPart sets a part of a pair.
func (p part) copyPart(to, from unsafe.Pointer) {
	copy(unsafe.Slice((*byte)(unsafe.Add(to, p.at)), p.size), unsafe.Slice((*byte)(unsafe.Add(from, p.at)), p.size))
}

// parts are those of a type, in the order of its type map.
func parts(t *dtype.Type) (all []part, basics []dtype.Basic) {
	dtype.Walk(t, 1, func(b dtype.Basic, at, n int64) bool {
		size := uintptr(dtype.Named(b).Size())
		for i := range uintptr(n) {
			all, basics = append(all, part{uintptr(at) + i*size, size}), append(basics, b)
		}
		return true
	})
	return all, basics
}

// located is MinLoc or MaxLoc on any type of two basics: with functions of their own those that C programs use, with
// comparisons through functions the others. nil: one of the basics has no order, or the operation is another one.
func located(id ID, t *dtype.Type) Func {
	switch t.Basic() {
	case dtype.FloatInt:
		return pairsOf[float32, int32](id)
	case dtype.DoubleInt:
		return pairsOf[float64, int32](id)
	case dtype.LongInt:
		return pairsOf[int64, int32](id)
	case dtype.TwoInt, dtype.TwoInteger:
		return pairsOf[int32, int32](id)
	}
	where, basics := parts(t)
	if len(where) != 2 || id != MinLoc && id != MaxLoc {
		return nil
	}
	values, indices := order[factOf(basics[0]).elem], order[factOf(basics[1]).elem]
	if values == nil || indices == nil || !ordered(basics[0]) || !ordered(basics[1]) {
		return nil
	}
	_, extent := t.Bounds()
	return func(out, low, high unsafe.Pointer, n int64) {
		for i := range n {
			a, b := unsafe.Add(low, i*extent), unsafe.Add(high, i*extent)
			c := values(a, b)
			if id == MaxLoc {
				c = -c
			}
			if c > 0 || c == 0 && indices(unsafe.Add(a, where[1].at), unsafe.Add(b, where[1].at)) > 0 {
				a = b
			}
			if o := unsafe.Add(out, i*extent); o != a {
				where[0].copyPart(o, a)
				where[1].copyPart(o, a)
			}
		}
	}
}

// ordered reports whether elements of a basic may be compared: those that have a Max.
func ordered(b dtype.Basic) bool {
	switch factOf(b).class {
	case cInteger, fInteger, floating, multi:
		return true
	}
	return false
}

// movers are the operations of accumulations: what comes, and what is there already.
func movers(t *dtype.Type) (replace, noOp Func) {
	where, _ := parts(t)
	_, extent := t.Bounds()
	if int64(t.Size()) == extent {
		where = []part{{0, uintptr(extent)}}
	}
	move := func(to, from unsafe.Pointer, n int64) {
		if len(where) == 1 {
			copy(slice[byte](to, n*extent), slice[byte](from, n*extent))
			return
		}
		for i := range n {
			for _, p := range where {
				p.copyPart(unsafe.Add(to, i*extent), unsafe.Add(from, i*extent))
			}
		}
	}
	return func(out, _, high unsafe.Pointer, n int64) { move(out, high, n) },
		func(out, low, _ unsafe.Pointer, n int64) { move(out, low, n) }
}
