package simd

import (
	"fmt"
	"testing"
)

var benchSizes = []int{64, 1 << 10, 64 << 10, 1 << 20, 8 << 20}

// BenchmarkForms counts the bytes of the result. The copy of as many bytes stands beside each size.
func BenchmarkForms(b *testing.B) {
	for _, size := range benchSizes {
		dst, src := make([]byte, size), make([]byte, size)
		b.Run(fmt.Sprintf("copy/size=%d", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				copy(dst, src)
			}
		})
	}
	for _, f := range runnableForms() {
		benchReal[float32](b, f, 4)
		benchReal[float64](b, f, 8)
		benchReal[int32](b, f, 4)
		benchReal[int64](b, f, 8)
	}
}

func benchReal[T Real](b *testing.B, f *form, bytes int) {
	for _, op := range []struct {
		name    string
		combine func(dst, a, b []T)
	}{{"sum", Sum[T]}, {"prod", Prod[T]}, {"min", Min[T]}, {"max", Max[T]}} {
		for _, size := range benchSizes {
			in, inout := make([]T, size/bytes), make([]T, size/bytes)
			for i := range in {
				in[i], inout[i] = T(i%7), 1
			}
			b.Run(fmt.Sprintf("op=%s/type=%T/form=%s/size=%d", op.name, *new(T), f.name, size), func(b *testing.B) {
				use(b, f)
				b.SetBytes(int64(size))
				for b.Loop() {
					op.combine(inout, in, inout)
				}
			})
		}
	}
}
