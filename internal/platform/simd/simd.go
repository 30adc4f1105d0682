package simd

import (
	"reflect"
	"unsafe"
)

// Integer is any type of integers.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// Real is any type of numbers with an order.
type Real interface {
	Integer | ~float32 | ~float64
}

// Number is any type of numbers.
type Number interface {
	Real | ~complex64 | ~complex128
}

// Sum sets dst[i] = a[i] + b[i]. For all four functions a and b are at least as long as dst. Each is dst itself or does
// not overlap it. Nothing blocks or allocates.
func Sum[T Number](dst, a, b []T) {
	if !applyVector(opSum, dst, a, b) {
		sum(dst, a, b)
	}
}

// Prod sets dst[i] = a[i] * b[i].
func Prod[T Number](dst, a, b []T) {
	if !applyVector(opProd, dst, a, b) {
		prod(dst, a, b)
	}
}

// Min sets dst[i] = min(a[i], b[i]): NaN if one is, and -0 is smaller than 0.
func Min[T Real](dst, a, b []T) {
	if !applyVector(opMin, dst, a, b) {
		minimum(dst, a, b)
	}
}

// Max sets dst[i] = max(a[i], b[i]): NaN if one is, and -0 is smaller than 0.
func Max[T Real](dst, a, b []T) {
	if !applyVector(opMax, dst, a, b) {
		maximum(dst, a, b)
	}
}

// operation indexes kernels.
type operation int

const (
	opSum operation = iota
	opProd
	opMin
	opMax
	operations
)

// kernel sets dst[i] = a[i] op b[i] for n elements, which are minBytes or more.
type kernel func(dst, a, b *byte, n int)

// kernels are those of one form; nil where the loop in Go is as good.
type kernels [operations][reflect.Complex128 + 1]kernel

const (
	// minBytes is the shortest slice for which a kernel pays. It needs one register full, which is less.
	minBytes = 64
	// maxBytes is half of what a kernel is given at most. The runtime cannot stop a goroutine inside, and a
	// collection waits for it: some 20 us.
	maxBytes = 256 << 10
)

// applyVector has a kernel do it, or returns false.
func applyVector[T any](op operation, dst, a, b []T) bool {
	size := int(unsafe.Sizeof(*new(T)))
	if len(dst)*size < minBytes {
		return false
	}
	f := chosen.kernels[op][reflect.TypeFor[T]().Kind()]
	if f == nil {
		return false
	}
	applyKernel(f, dst, a[:len(dst)], b[:len(dst)])
	return true
}

// applyKernel gives all elements to f in pieces. The last one takes what is left, so that it is not too short.
func applyKernel[T any](f kernel, dst, a, b []T) {
	piece := maxBytes / int(unsafe.Sizeof(*new(T)))
	for len(dst) >= 2*piece {
		f(firstOf(dst), firstOf(a), firstOf(b), piece)
		dst, a, b = dst[piece:], a[piece:], b[piece:]
	}
	f(firstOf(dst), firstOf(a), firstOf(b), len(dst))
}

func firstOf[T any](s []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(s))) }
