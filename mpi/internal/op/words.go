package op

import "unsafe"

// Operations that take eight bytes at a time, whatever they are part of.

// views are the three operands, equally long, so that loops need no check of bounds.
func views[T any](out, low, high unsafe.Pointer, n int64) (o, l, h []T) {
	o, l, h = slice[T](out, n), slice[T](low, n), slice[T](high, n)
	return o, l[:len(o)], h[:len(o)]
}

// words splits n elements of T into words of 64 bits and bytes: bitwise operations do not care what they are part of.
func words[T any](n int64) (whole, rest int64) {
	size := n * int64(unsafe.Sizeof(*new(T)))
	return size / 8, size % 8
}

// beyond has f take the n elements behind some words. It makes no pointer to the end of an operand, where memory of
// others may begin.
func beyond(f func(out, low, high unsafe.Pointer, n int64), out, low, high unsafe.Pointer, words, n int64) {
	if at := 8 * words; n > 0 {
		f(unsafe.Add(out, at), unsafe.Add(low, at), unsafe.Add(high, at), n)
	}
}

func and[T any](out, low, high unsafe.Pointer, n int64) {
	whole, rest := words[T](n)
	o, l, h := views[uint64](out, low, high, whole)
	for i := range o {
		o[i] = l[i] & h[i]
	}
	beyond(func(out, low, high unsafe.Pointer, n int64) {
		o, l, h := views[uint8](out, low, high, n)
		for i := range o {
			o[i] = l[i] & h[i]
		}
	}, out, low, high, whole, rest)
}

func or[T any](out, low, high unsafe.Pointer, n int64) {
	whole, rest := words[T](n)
	o, l, h := views[uint64](out, low, high, whole)
	for i := range o {
		o[i] = l[i] | h[i]
	}
	beyond(func(out, low, high unsafe.Pointer, n int64) {
		o, l, h := views[uint8](out, low, high, n)
		for i := range o {
			o[i] = l[i] | h[i]
		}
	}, out, low, high, whole, rest)
}

func xor[T any](out, low, high unsafe.Pointer, n int64) {
	whole, rest := words[T](n)
	o, l, h := views[uint64](out, low, high, whole)
	for i := range o {
		o[i] = l[i] ^ h[i]
	}
	beyond(func(out, low, high unsafe.Pointer, n int64) {
		o, l, h := views[uint8](out, low, high, n)
		for i := range o {
			o[i] = l[i] ^ h[i]
		}
	}, out, low, high, whole, rest)
}

// The first bit of each byte, and of each pair of bytes, in a word.
const (
	tops8  = 0x8080808080808080
	tops16 = 0x8000800080008000
	ones8  = tops8 >> 7
)

// sum8 is the sum of integers of one byte. A carry goes from bit to bit, and not beyond the byte, as the first bits are
// added without one.
func sum8(out, low, high unsafe.Pointer, n int64) {
	whole, rest := words[uint8](n)
	o, l, h := views[uint64](out, low, high, whole)
	for i := range o {
		a, b := l[i], h[i]
		o[i] = (a&^tops8 + b&^tops8) ^ (a^b)&tops8
	}
	beyond(sum[uint8], out, low, high, whole, rest)
}

// sum16 is sum8 for two bytes.
func sum16(out, low, high unsafe.Pointer, n int64) {
	whole, rest := words[uint16](n)
	o, l, h := views[uint64](out, low, high, whole)
	for i := range o {
		a, b := l[i], h[i]
		o[i] = (a&^tops16 + b&^tops16) ^ (a^b)&tops16
	}
	beyond(sum[uint16], out, low, high, whole, rest/2)
}

// truths8 has 1 in each byte of x that is not 0, and else 0.
func truths8(x uint64) uint64 { return (x | (x&^tops8 + ^uint64(tops8))) >> 7 & ones8 }

// logicals are the operations on logicals of one byte.
func logicals() kernels { return kernels{Land: land8, Lor: lor8, Lxor: lxor8} }

func land8(out, low, high unsafe.Pointer, n int64) {
	whole, rest := words[uint8](n)
	o, l, h := views[uint64](out, low, high, whole)
	for i := range o {
		o[i] = truths8(l[i]) & truths8(h[i])
	}
	beyond(land[uint8], out, low, high, whole, rest)
}

func lor8(out, low, high unsafe.Pointer, n int64) {
	whole, rest := words[uint8](n)
	o, l, h := views[uint64](out, low, high, whole)
	for i := range o {
		o[i] = truths8(l[i] | h[i])
	}
	beyond(lor[uint8], out, low, high, whole, rest)
}

func lxor8(out, low, high unsafe.Pointer, n int64) {
	whole, rest := words[uint8](n)
	o, l, h := views[uint64](out, low, high, whole)
	for i := range o {
		o[i] = truths8(l[i]) ^ truths8(h[i])
	}
	beyond(lxor[uint8], out, low, high, whole, rest)
}
