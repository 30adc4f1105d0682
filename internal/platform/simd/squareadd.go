package simd

import "math"

// maxSteps is how often a kernel repeats at most: some 10 us, in which the runtime cannot stop the goroutine.
const maxSteps = 4096

// SquareAdd sets a[i] = a[i]*a[i] + a[i] with one rounding, n times, for each i. It is work for benchmarks: 128
// floating-point operations each time, at the rate of the processor's arithmetic. Nothing blocks or allocates.
func SquareAdd(a *[64]float64, n int) {
	if !chosen.squareAdd {
		squareAdd(a, n)
		return
	}
	for ; n > maxSteps; n -= maxSteps {
		squareAdd64(a, maxSteps)
	}
	if n > 0 {
		squareAdd64(a, n)
	}
}

func squareAdd(a *[64]float64, n int) {
	for range n {
		for i, x := range a {
			a[i] = math.FMA(x, x, x)
		}
	}
}
