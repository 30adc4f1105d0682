// Package simd holds the element-wise loops of reductions: dst[i] = a[i] op b[i]. Elements of 32 and 64 bits are
// combined with vector instructions where the processor has them; all other types, short slices and builds with the
// race detector or with the tag purego take the loops in Go. All forms give equal results, bit for bit, except for
// the payload of a NaN.
//
// docs/simd.md tells how the forms are chosen, generated and tested.
package simd

//go:generate go run -C gen .
