// Package simd has the element-wise loops of reductions: dst[i] = a[i] op b[i]. Elements of 32 and 64 bits are combined
// with vector instructions where the processor has them. All other types and short slices take loops in Go. So do
// builds with the race detector or with the tag purego. All forms give equal results, bit for bit, except for the
// payload of a NaN.
//
// docs/design/simd.md describes how the forms are chosen, generated and tested.
package simd

//go:generate go run -C gen .
