//go:build !purego

package simd

// squareAdd64 is the kernel of SquareAdd. n is at least 1.
//
//go:noescape
func squareAdd64(a *[64]float64, n int)
