package mpi

import (
	"cmp"

	"github.com/golci/golci/internal/platform/simd"
	opid "github.com/golci/golci/mpi/internal/op"
)

// Integer is what bitwise operations take.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// Real is what can be ordered.
type Real interface {
	Integer | ~float32 | ~float64
}

// Number is what can be added and multiplied.
type Number interface {
	Real | ~complex64 | ~complex128
}

// Sum is an Op that adds (6.9.2). Sums of floating point depend on the order. The order depends only on the number of
// ranks and of elements, so equal runs give equal results.
func Sum[T Number]() Reducer[T] { return predefined[T](opid.Sum, sum[T]{}) }

// Prod is an Op that multiplies (6.9.2).
func Prod[T Number]() Reducer[T] { return predefined[T](opid.Prod, prod[T]{}) }

// Min is an Op that takes the smaller one; NaN if there is one (6.9.2).
func Min[T Real]() Reducer[T] { return predefined[T](opid.Min, minimum[T]{}) }

// Max is an Op that takes the larger one; NaN if there is one (6.9.2).
func Max[T Real]() Reducer[T] { return predefined[T](opid.Max, maximum[T]{}) }

// Band is an Op: the bitwise and (6.9.2).
func Band[T Integer]() Reducer[T] { return predefined[T](opid.Band, band[T]{}) }

// Bor is an Op: the bitwise or (6.9.2).
func Bor[T Integer]() Reducer[T] { return predefined[T](opid.Bor, bor[T]{}) }

// Bxor is an Op: the bitwise exclusive or (6.9.2).
func Bxor[T Integer]() Reducer[T] { return predefined[T](opid.Bxor, bxor[T]{}) }

// Land is an Op: the logical and (6.9.2).
func Land[T ~bool]() Reducer[T] { return predefined[T](opid.Land, land[T]{}) }

// Lor is an Op: the logical or (6.9.2).
func Lor[T ~bool]() Reducer[T] { return predefined[T](opid.Lor, lor[T]{}) }

// Lxor is an Op: the logical exclusive or (6.9.2).
func Lxor[T ~bool]() Reducer[T] { return predefined[T](opid.Lxor, lxor[T]{}) }

// Loc is a value and where it is, for MinLoc and MaxLoc.
type Loc[T Real] struct {
	Value T
	Index int
}

// MinLoc is an Op that takes the smallest value; of equal ones that with the lowest index (6.9.4).
func MinLoc[T Real]() Reducer[Loc[T]] { return predefined[Loc[T]](opid.MinLoc, minLoc[T]{}) }

// MaxLoc is an Op that takes the largest value; of equal ones that with the lowest index (6.9.4).
func MaxLoc[T Real]() Reducer[Loc[T]] { return predefined[Loc[T]](opid.MaxLoc, maxLoc[T]{}) }

type (
	sum[T Number]   struct{}
	prod[T Number]  struct{}
	minimum[T Real] struct{}
	maximum[T Real] struct{}
	band[T Integer] struct{}
	bor[T Integer]  struct{}
	bxor[T Integer] struct{}
	land[T ~bool]   struct{}
	lor[T ~bool]    struct{}
	lxor[T ~bool]   struct{}
	minLoc[T Real]  struct{}
	maxLoc[T Real]  struct{}
)

// Into implements argument.Combiner.
func (sum[T]) Into(out, low, high []byte) { simd.Sum(viewOf[T](out), viewOf[T](low), viewOf[T](high)) }

// Into implements argument.Combiner.
func (prod[T]) Into(out, low, high []byte) {
	simd.Prod(viewOf[T](out), viewOf[T](low), viewOf[T](high))
}

// Into implements argument.Combiner.
func (minimum[T]) Into(out, low, high []byte) {
	simd.Min(viewOf[T](out), viewOf[T](low), viewOf[T](high))
}

// Into implements argument.Combiner.
func (maximum[T]) Into(out, low, high []byte) {
	simd.Max(viewOf[T](out), viewOf[T](low), viewOf[T](high))
}

// Into implements argument.Combiner.
func (band[T]) Into(out, low, high []byte) {
	o, l, h := viewsOf[T](out, low, high)
	for i := range o {
		o[i] = l[i] & h[i]
	}
}

// Into implements argument.Combiner.
func (bor[T]) Into(out, low, high []byte) {
	o, l, h := viewsOf[T](out, low, high)
	for i := range o {
		o[i] = l[i] | h[i]
	}
}

// Into implements argument.Combiner.
func (bxor[T]) Into(out, low, high []byte) {
	o, l, h := viewsOf[T](out, low, high)
	for i := range o {
		o[i] = l[i] ^ h[i]
	}
}

// Into implements argument.Combiner.
func (land[T]) Into(out, low, high []byte) {
	o, l, h := viewsOf[T](out, low, high)
	for i := range o {
		o[i] = l[i] && h[i]
	}
}

// Into implements argument.Combiner.
func (lor[T]) Into(out, low, high []byte) {
	o, l, h := viewsOf[T](out, low, high)
	for i := range o {
		o[i] = l[i] || h[i]
	}
}

// Into implements argument.Combiner.
func (lxor[T]) Into(out, low, high []byte) {
	o, l, h := viewsOf[T](out, low, high)
	for i := range o {
		o[i] = l[i] != h[i]
	}
}

// Into implements argument.Combiner.
func (minLoc[T]) Into(out, low, high []byte) {
	o, l, h := viewsOf[Loc[T]](out, low, high)
	for i := range o {
		o[i] = locate(l[i], h[i], cmp.Compare(l[i].Value, h[i].Value))
	}
}

// Into implements argument.Combiner.
func (maxLoc[T]) Into(out, low, high []byte) {
	o, l, h := viewsOf[Loc[T]](out, low, high)
	for i := range o {
		o[i] = locate(l[i], h[i], cmp.Compare(h[i].Value, l[i].Value))
	}
}

func locate[T Real](a, b Loc[T], order int) Loc[T] {
	if order < 0 || order == 0 && a.Index <= b.Index {
		return a
	}
	return b
}

// viewsOf is viewOf for three that are equally long.
func viewsOf[T any](out, low, high []byte) (o, l, h []T) {
	o, l, h = viewOf[T](out), viewOf[T](low), viewOf[T](high)
	return o, l[:len(o)], h[:len(o)]
}
