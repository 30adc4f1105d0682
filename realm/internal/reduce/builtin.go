package reduce

import (
	"math"
	"unsafe"

	"github.com/golci/golci/internal/platform/simd"
)

// Integer is what bitwise operators take.
type Integer = simd.Integer

// Real is what can be ordered.
type Real = simd.Real

// Number is what can be added and multiplied.
type Number = simd.Number

// builtin makes an operator for values of the type of the data. Its functions serve single and atomic reductions, its
// kernel all others.
func builtin[T any](name string, f func(a, b T) T, identity T, k kernel[T, T]) *Op[T, T] {
	return &Op[T, T]{Name: name, Apply: f, Fold: f, Identity: &identity, kernel: k}
}

// fraction tells whether T has fractions.
func fraction[T Real]() bool { return T(1)/T(2) != 0 }

// highest is the largest value of T.
func highest[T Real]() T {
	if fraction[T]() {
		inf := math.Inf(1)
		return T(inf)
	}
	m := T(1)
	for m+m+1 > m {
		m += m + 1
	}
	return m
}

// lowest is the smallest value of T.
func lowest[T Real]() T {
	if zero := T(0); !fraction[T]() && zero-1 > zero {
		return zero
	}
	return -highest[T]() - T(1) // -Inf stays
}

// Sum adds.
func Sum[T Number]() *Op[T, T] {
	return builtin("sum", func(a, b T) T { return a + b }, 0, kernel[T, T](sum[T]{}))
}

type sum[T Number] struct{}

func (sum[T]) foldRow(dst, v []T) { simd.Sum(dst, dst, v) }

func (sum[T]) applyRow(dst, v []T) { simd.Sum(dst, dst, v) }

func (sum[T]) foldAt(pages []*page[T], at []int64, v []T) {
	v = v[:len(at)]
	for k, i := range at {
		p := &pages[uint64(i)/pageLen][uint64(i)%pageLen]
		*p += v[k]
	}
}

func (sum[T]) applyAt(base unsafe.Pointer, offs []int64, v []T) {
	v = v[:len(offs)]
	for k, off := range offs {
		p := (*T)(unsafe.Add(base, off))
		*p += v[k]
	}
}

// Prod multiplies.
func Prod[T Number]() *Op[T, T] {
	return builtin("prod", func(a, b T) T { return a * b }, 1, kernel[T, T](prod[T]{}))
}

type prod[T Number] struct{}

func (prod[T]) foldRow(dst, v []T) { simd.Prod(dst, dst, v) }

func (prod[T]) applyRow(dst, v []T) { simd.Prod(dst, dst, v) }

func (prod[T]) foldAt(pages []*page[T], at []int64, v []T) {
	v = v[:len(at)]
	for k, i := range at {
		p := &pages[uint64(i)/pageLen][uint64(i)%pageLen]
		*p *= v[k]
	}
}

func (prod[T]) applyAt(base unsafe.Pointer, offs []int64, v []T) {
	v = v[:len(offs)]
	for k, off := range offs {
		p := (*T)(unsafe.Add(base, off))
		*p *= v[k]
	}
}

// Min takes the smaller one; NaN if there is one.
func Min[T Real]() *Op[T, T] {
	return builtin("min", func(a, b T) T { return min(a, b) }, highest[T](), kernel[T, T](minimum[T]{}))
}

type minimum[T Real] struct{}

func (minimum[T]) foldRow(dst, v []T) { simd.Min(dst, dst, v) }

func (minimum[T]) applyRow(dst, v []T) { simd.Min(dst, dst, v) }

func (minimum[T]) foldAt(pages []*page[T], at []int64, v []T) {
	v = v[:len(at)]
	for k, i := range at {
		p := &pages[uint64(i)/pageLen][uint64(i)%pageLen]
		*p = min(*p, v[k])
	}
}

func (minimum[T]) applyAt(base unsafe.Pointer, offs []int64, v []T) {
	v = v[:len(offs)]
	for k, off := range offs {
		p := (*T)(unsafe.Add(base, off))
		*p = min(*p, v[k])
	}
}

// Max takes the larger one; NaN if there is one.
func Max[T Real]() *Op[T, T] {
	return builtin("max", func(a, b T) T { return max(a, b) }, lowest[T](), kernel[T, T](maximum[T]{}))
}

type maximum[T Real] struct{}

func (maximum[T]) foldRow(dst, v []T) { simd.Max(dst, dst, v) }

func (maximum[T]) applyRow(dst, v []T) { simd.Max(dst, dst, v) }

func (maximum[T]) foldAt(pages []*page[T], at []int64, v []T) {
	v = v[:len(at)]
	for k, i := range at {
		p := &pages[uint64(i)/pageLen][uint64(i)%pageLen]
		*p = max(*p, v[k])
	}
}

func (maximum[T]) applyAt(base unsafe.Pointer, offs []int64, v []T) {
	v = v[:len(offs)]
	for k, off := range offs {
		p := (*T)(unsafe.Add(base, off))
		*p = max(*p, v[k])
	}
}

// And takes the bitwise and.
func And[T Integer]() *Op[T, T] {
	return builtin("and", func(a, b T) T { return a & b }, ^T(0), kernel[T, T](and[T]{}))
}

type and[T Integer] struct{}

func (k and[T]) applyRow(dst, v []T) { k.foldRow(dst, v) }

func (and[T]) foldRow(dst, v []T) {
	v = v[:len(dst)]
	for i := range dst {
		dst[i] &= v[i]
	}
}

func (and[T]) foldAt(pages []*page[T], at []int64, v []T) {
	v = v[:len(at)]
	for k, i := range at {
		p := &pages[uint64(i)/pageLen][uint64(i)%pageLen]
		*p &= v[k]
	}
}

func (and[T]) applyAt(base unsafe.Pointer, offs []int64, v []T) {
	v = v[:len(offs)]
	for k, off := range offs {
		p := (*T)(unsafe.Add(base, off))
		*p &= v[k]
	}
}

// Or takes the bitwise or.
func Or[T Integer]() *Op[T, T] {
	return builtin("or", func(a, b T) T { return a | b }, 0, kernel[T, T](or[T]{}))
}

type or[T Integer] struct{}

func (k or[T]) applyRow(dst, v []T) { k.foldRow(dst, v) }

func (or[T]) foldRow(dst, v []T) {
	v = v[:len(dst)]
	for i := range dst {
		dst[i] |= v[i]
	}
}

func (or[T]) foldAt(pages []*page[T], at []int64, v []T) {
	v = v[:len(at)]
	for k, i := range at {
		p := &pages[uint64(i)/pageLen][uint64(i)%pageLen]
		*p |= v[k]
	}
}

func (or[T]) applyAt(base unsafe.Pointer, offs []int64, v []T) {
	v = v[:len(offs)]
	for k, off := range offs {
		p := (*T)(unsafe.Add(base, off))
		*p |= v[k]
	}
}

// Xor takes the bitwise exclusive or.
func Xor[T Integer]() *Op[T, T] {
	return builtin("xor", func(a, b T) T { return a ^ b }, 0, kernel[T, T](xor[T]{}))
}

type xor[T Integer] struct{}

func (k xor[T]) applyRow(dst, v []T) { k.foldRow(dst, v) }

func (xor[T]) foldRow(dst, v []T) {
	v = v[:len(dst)]
	for i := range dst {
		dst[i] ^= v[i]
	}
}

func (xor[T]) foldAt(pages []*page[T], at []int64, v []T) {
	v = v[:len(at)]
	for k, i := range at {
		p := &pages[uint64(i)/pageLen][uint64(i)%pageLen]
		*p ^= v[k]
	}
}

func (xor[T]) applyAt(base unsafe.Pointer, offs []int64, v []T) {
	v = v[:len(offs)]
	for k, off := range offs {
		p := (*T)(unsafe.Add(base, off))
		*p ^= v[k]
	}
}
