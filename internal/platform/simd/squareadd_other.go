//go:build purego || !amd64

package simd

// squareAdd64 is not called: no form has it.
func squareAdd64(a *[64]float64, n int) { squareAdd(a, n) }
