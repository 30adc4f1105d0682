package op

import (
	"unsafe"

	"github.com/golci/golci/internal/platform/simd"
)

// integers are the operations on T. Sums and products are those of two's complement: they wrap.
func integers[T simd.Integer]() kernels {
	return kernels{
		Sum: sum[T], Prod: prod[T], Min: least[T], Max: greatest[T],
		Band: and[T], Bor: or[T], Bxor: xor[T],
		Land: land[T], Lor: lor[T], Lxor: lxor[T],
	}
}

// small are integers of one or two bytes, which are added in words.
func small[T simd.Integer](add Func) kernels {
	k := integers[T]()
	k[Sum] = add
	return k
}

// reals are the operations on floating-point numbers of the processor.
func reals[T float32 | float64]() kernels {
	return kernels{Sum: sum[T], Prod: prod[T], Min: least[T], Max: greatest[T]}
}

// truths are the operations on logicals of the size of T.
func truths[T simd.Integer]() kernels { return kernels{Land: land[T], Lor: lor[T], Lxor: lxor[T]} }

func sum[T simd.Number](out, low, high unsafe.Pointer, n int64) {
	simd.Sum(slice[T](out, n), slice[T](low, n), slice[T](high, n))
}

func prod[T simd.Number](out, low, high unsafe.Pointer, n int64) {
	simd.Prod(slice[T](out, n), slice[T](low, n), slice[T](high, n))
}

func least[T simd.Real](out, low, high unsafe.Pointer, n int64) {
	simd.Min(slice[T](out, n), slice[T](low, n), slice[T](high, n))
}

func greatest[T simd.Real](out, low, high unsafe.Pointer, n int64) {
	simd.Max(slice[T](out, n), slice[T](low, n), slice[T](high, n))
}

// sumTwo is sum of numbers of two parts: it adds the parts.
func sumTwo[T simd.Real](out, low, high unsafe.Pointer, n int64) { sum[T](out, low, high, 2*n) }

// prodComplex is prod of complex numbers. Each operation on parts is rounded, on all machines.
func prodComplex(out, low, high unsafe.Pointer, n int64) {
	o, l, h := views[complex128](out, low, high, n)
	for i := range o {
		a, b, c, d := real(l[i]), imag(l[i]), real(h[i]), imag(h[i])
		o[i] = complex(float64(a*c)-float64(b*d), float64(a*d)+float64(b*c))
	}
}

// truth is 1 or 0. What is not 0 is true, as in C.
func truth[T simd.Integer](x bool) T {
	if x {
		return 1
	}
	return 0
}

func land[T simd.Integer](out, low, high unsafe.Pointer, n int64) {
	o, l, h := views[T](out, low, high, n)
	for i := range o {
		o[i] = truth[T](l[i] != 0) & truth[T](h[i] != 0)
	}
}

func lor[T simd.Integer](out, low, high unsafe.Pointer, n int64) {
	o, l, h := views[T](out, low, high, n)
	for i := range o {
		o[i] = truth[T](l[i]|h[i] != 0)
	}
}

func lxor[T simd.Integer](out, low, high unsafe.Pointer, n int64) {
	o, l, h := views[T](out, low, high, n)
	for i := range o {
		o[i] = truth[T](l[i] != 0) ^ truth[T](h[i] != 0)
	}
}
