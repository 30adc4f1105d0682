package mpi

import (
	"cmp"

	"github.com/golci/golci/internal/simd"
)

// Op combines the contributions of ranks in a reduction (6.9). The zero Op is invalid. Make one with Sum and its kin, or NewOp
// or Each. It is applied in the order of ranks unless it is commutative.
type Op[T any] struct {
	f       combiner[T]
	commute bool
}

// combiner sets out[i] to low[i] op high[i]; the three are equally long. low holds what comes from lower ranks. out
// may be one of the others; if it is low, high is of no use afterwards. The predefined ones are empty structs, because
// generic functions as values would be allocated.
type combiner[T any] interface{ into(out, low, high []T) }

type function[T any] func(in, inout []T)

func (f function[T]) into(out, low, high []T) {
	switch {
	case same(bytesOf(out), bytesOf(high)):
		f(low, high)
	case same(bytesOf(out), bytesOf(low)):
		f(low, high)
		copy(out, high)
	default:
		copy(out, high)
		f(low, out)
	}
}

// NewOp makes an operation of f, which sets inout[i] to in[i] op inout[i] for all i and must not keep the slices, which are equally
// long. It must be associative. commute tells that it is commutative, too, which lets faster algorithms be used. A nil f gives
// an invalid Op: ErrOp when it is used. If f panics, the collective fails as with ErrOp, so that the other ranks get
// ErrCollective, and then the panic goes on.
func NewOp[T any](f func(in, inout []T), commute bool) Op[T] {
	if f == nil {
		return Op[T]{}
	}
	return Op[T]{function[T](f), commute}
}

// Each is NewOp for a function of two elements.
func Each[T any](f func(a, b T) T, commute bool) Op[T] {
	if f == nil {
		return Op[T]{}
	}
	return NewOp(func(in, inout []T) {
		for i, a := range in {
			inout[i] = f(a, inout[i])
		}
	}, commute)
}

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

// Sum adds. Sums of floating point depend on the order; the order depends on the number of ranks and of elements only, so
// equal runs give equal results.
func Sum[T Number]() Op[T] { return Op[T]{sum[T]{}, true} }

type sum[T Number] struct{}

func (sum[T]) into(out, low, high []T) { simd.Sum(out, low, high) }

// Prod multiplies.
func Prod[T Number]() Op[T] { return Op[T]{prod[T]{}, true} }

type prod[T Number] struct{}

func (prod[T]) into(out, low, high []T) { simd.Prod(out, low, high) }

// Min takes the smaller one; NaN if there is one.
func Min[T Real]() Op[T] { return Op[T]{minimum[T]{}, true} }

type minimum[T Real] struct{}

func (minimum[T]) into(out, low, high []T) { simd.Min(out, low, high) }

// Max takes the larger one; NaN if there is one.
func Max[T Real]() Op[T] { return Op[T]{maximum[T]{}, true} }

type maximum[T Real] struct{}

func (maximum[T]) into(out, low, high []T) { simd.Max(out, low, high) }

// Band is the bitwise and.
func Band[T Integer]() Op[T] { return Op[T]{band[T]{}, true} }

type band[T Integer] struct{}

func (band[T]) into(out, low, high []T) {
	for i, a := range low {
		out[i] = a & high[i]
	}
}

// Bor is the bitwise or.
func Bor[T Integer]() Op[T] { return Op[T]{bor[T]{}, true} }

type bor[T Integer] struct{}

func (bor[T]) into(out, low, high []T) {
	for i, a := range low {
		out[i] = a | high[i]
	}
}

// Bxor is the bitwise exclusive or.
func Bxor[T Integer]() Op[T] { return Op[T]{bxor[T]{}, true} }

type bxor[T Integer] struct{}

func (bxor[T]) into(out, low, high []T) {
	for i, a := range low {
		out[i] = a ^ high[i]
	}
}

// Land is the logical and.
func Land[T ~bool]() Op[T] { return Each(func(a, b T) T { return a && b }, true) }

// Lor is the logical or.
func Lor[T ~bool]() Op[T] { return Each(func(a, b T) T { return a || b }, true) }

// Lxor is the logical exclusive or.
func Lxor[T ~bool]() Op[T] { return Each(func(a, b T) T { return a != b }, true) }

// Loc is a value and where it is, for MinLoc and MaxLoc.
type Loc[T Real] struct {
	Value T
	Index int
}

// MinLoc takes the smallest value; of equal ones that with the lowest index (6.9.4).
func MinLoc[T Real]() Op[Loc[T]] {
	return Each(func(a, b Loc[T]) Loc[T] { return locate(a, b, cmp.Compare(a.Value, b.Value)) }, true)
}

// MaxLoc takes the largest value; of equal ones that with the lowest index.
func MaxLoc[T Real]() Op[Loc[T]] {
	return Each(func(a, b Loc[T]) Loc[T] { return locate(a, b, cmp.Compare(b.Value, a.Value)) }, true)
}

func locate[T Real](a, b Loc[T], order int) Loc[T] {
	if order < 0 || order == 0 && a.Index <= b.Index {
		return a
	}
	return b
}
