package op

import (
	"cmp"
	"math/bits"
	"unsafe"
)

// int128 is an integer of 16 bytes. The order of its words is that of bytes in a word.
type int128 struct{ lo, hi uint64 }

func integers128() kernels {
	return kernels{
		Sum: sum128, Prod: prod128, Min: min128, Max: max128,
		Band: and[int128], Bor: or[int128], Bxor: xor[int128],
	}
}

func sum128(out, low, high unsafe.Pointer, n int64) {
	o, l, h := views[int128](out, low, high, n)
	for i := range o {
		lo, carry := bits.Add64(l[i].lo, h[i].lo, 0)
		o[i] = int128{lo, l[i].hi + h[i].hi + carry}
	}
}

func prod128(out, low, high unsafe.Pointer, n int64) {
	o, l, h := views[int128](out, low, high, n)
	for i := range o {
		a, b := l[i], h[i]
		hi, lo := bits.Mul64(a.lo, b.lo)
		o[i] = int128{lo, hi + a.hi*b.lo + a.lo*b.hi}
	}
}

func (a int128) compareTo(b int128) int {
	if c := cmp.Compare(int64(a.hi), int64(b.hi)); c != 0 {
		return c
	}
	return cmp.Compare(a.lo, b.lo)
}

func min128(out, low, high unsafe.Pointer, n int64) {
	o, l, h := views[int128](out, low, high, n)
	for i := range o {
		a, b := l[i], h[i]
		if b.compareTo(a) < 0 {
			a = b
		}
		o[i] = a
	}
}

func max128(out, low, high unsafe.Pointer, n int64) {
	o, l, h := views[int128](out, low, high, n)
	for i := range o {
		a, b := l[i], h[i]
		if b.compareTo(a) > 0 {
			a = b
		}
		o[i] = a
	}
}

// whether is a logical of 16 bytes.
func whether(x bool) int128 { return int128{lo: truth[uint64](x)} }

func (a int128) true() bool { return a.lo|a.hi != 0 }

func land128(out, low, high unsafe.Pointer, n int64) {
	o, l, h := views[int128](out, low, high, n)
	for i := range o {
		o[i] = whether(l[i].true() && h[i].true())
	}
}

func lor128(out, low, high unsafe.Pointer, n int64) {
	o, l, h := views[int128](out, low, high, n)
	for i := range o {
		o[i] = whether(l[i].true() || h[i].true())
	}
}

func lxor128(out, low, high unsafe.Pointer, n int64) {
	o, l, h := views[int128](out, low, high, n)
	for i := range o {
		o[i] = whether(l[i].true() != h[i].true())
	}
}
