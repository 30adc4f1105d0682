package op

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/golci/golci/internal/platform/simd"
	"github.com/golci/golci/mpi/internal/dtype"
)

// BenchmarkOps counts the bytes of the result, 64 KiB. The limits come first: a copy of as many bytes, and the kernel
// of package simd for doubles.
func BenchmarkOps(b *testing.B) {
	const size = 64 << 10
	out, in := make([]uint64, size/8), make([]uint64, size/8)
	for i := range in {
		in[i], out[i] = 0x3c003c003c003c00+uint64(i), 0x3c003c003c003c00
	}
	view := func(s []uint64) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), size) }
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				f()
			}
		})
	}
	run("limit=copy", func() { copy(view(out), view(in)) })
	x, y := slice[float64](unsafe.Pointer(&out[0]), size/8), slice[float64](unsafe.Pointer(&in[0]), size/8)
	run("limit=simd", func() { simd.Sum(x, y, x) })
	for _, c := range []struct {
		id ID
		b  dtype.Basic
	}{
		{Sum, dtype.Double},
		{Sum, dtype.Float},
		{Sum, dtype.Int},
		{Max, dtype.Double},
		{Prod, dtype.Long},
		{Sum, dtype.CDoubleComplex},
		{Prod, dtype.CDoubleComplex},
		{Sum, dtype.Int8},
		{Band, dtype.Byte},
		{Bxor, dtype.Int},
		{Land, dtype.Int},
		{Lor, dtype.CBool},
		{MaxLoc, dtype.DoubleInt},
		{MinLoc, dtype.TwoInt},
		{MaxLoc, dtype.LongDoubleInt},
		{Sum, dtype.Real2},
		{Prod, dtype.Real2},
		{Sum, dtype.LongDouble},
		{Prod, dtype.LongDouble},
		{Max, dtype.LongDouble},
		{Sum, dtype.Real16},
		{Prod, dtype.Real16},
		{Prod, dtype.CLongDoubleComplex},
		{Sum, dtype.Integer16},
		{Replace, dtype.Double},
	} {
		f, ok := Lookup(c.id, c.b)
		if !ok {
			b.Fatalf("no %v on %v", c.id, c.b)
		}
		_, extent := dtype.Named(c.b).Bounds()
		p, q := unsafe.Pointer(&out[0]), unsafe.Pointer(&in[0])
		run(fmt.Sprintf("op=%v/type=%v", c.id, c.b), func() { f(p, p, q, size/extent) })
	}
}
