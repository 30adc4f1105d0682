package op

import "unsafe"

// extended is a number of 80 bits in 16 bytes: the first bit of its significand is not left out. The rest of the bytes
// is 0 in results.
type extended struct {
	significand uint64
	top         uint64 // sign and exponent, of 16 bits
}

// quad is a number of 128 bits. The order of its words is that of bytes in a word.
type quad struct{ lo, hi uint64 }

// toNumber is what x is. What the processor refuses, as its first bit does not fit its exponent, is no number.
func (x extended) toNumber() number {
	neg, e, s := x.negative(), int(x.top&exponentTop), x.significand
	switch {
	case e == exponentTop && s == 1<<63:
		return number{value: infinite, neg: neg}
	case e == exponentTop || e != 0 && s>>63 == 0:
		return number{hi: s, value: nan, neg: neg}
	}
	return normal(neg, s, 0, max(e, 1)-bias)
}

func (x quad) toNumber() number {
	neg, e, s := x.hi>>63 != 0, int(x.hi>>48&exponentTop), x.hi<<16>>16
	switch {
	case e == exponentTop && s|x.lo == 0:
		return number{value: infinite, neg: neg}
	case e == exponentTop:
		return number{hi: s<<15 | x.lo>>49, lo: x.lo << 15, value: nan, neg: neg}
	case e != 0:
		s |= 1 << 48
	}
	return normal(neg, s<<15|x.lo>>49, x.lo<<15, max(e, 1)-bias)
}

// extendedOf rounds.
func extendedOf(n number) extended {
	sign := truth[uint64](n.neg) << 15
	switch n.value {
	case zero:
		return extended{top: sign}
	case nan:
		return extended{significand: n.hi | 3<<62, top: sign | exponentTop}
	case finite:
		if exp, _, s := n.rounded(64); exp < exponentTop {
			return extended{significand: s, top: sign | uint64(exp)}
		}
	}
	return extended{significand: 1 << 63, top: sign | exponentTop}
}

// quadOf rounds.
func quadOf(n number) quad {
	sign := truth[uint64](n.neg) << 63
	switch n.value {
	case zero:
		return quad{hi: sign}
	case nan:
		return quad{hi: sign | exponentTop<<48 | 1<<47 | n.hi<<1>>16, lo: n.lo>>15 | n.hi<<49}
	case finite:
		if exp, hi, lo := n.rounded(113); exp < exponentTop {
			return quad{hi: sign | uint64(exp)<<48 | hi<<16>>16, lo: lo}
		}
	}
	return quad{hi: sign | exponentTop<<48}
}

func (x extended) plusNumber(y extended) extended { return extendedOf(add(x.toNumber(), y.toNumber())) }

func (x extended) times(y extended) extended { return extendedOf(mul(x.toNumber(), y.toNumber())) }

func (x extended) less(y extended) extended {
	return extendedOf(add(x.toNumber(), y.toNumber().negated()))
}
func (x extended) order(y extended) int { return x.toNumber().compareTo(y.toNumber()) }
func (x extended) isNaN() bool          { return x.toNumber().value == nan }
func (x extended) negative() bool       { return x.top>>15&1 != 0 }

func (x quad) plusNumber(y quad) quad { return quadOf(add(x.toNumber(), y.toNumber())) }
func (x quad) times(y quad) quad      { return quadOf(mul(x.toNumber(), y.toNumber())) }
func (x quad) less(y quad) quad       { return quadOf(add(x.toNumber(), y.toNumber().negated())) }
func (x quad) order(y quad) int       { return x.toNumber().compareTo(y.toNumber()) }
func (x quad) isNaN() bool            { return x.toNumber().value == nan }
func (x quad) negative() bool         { return x.hi>>63 != 0 }

func (n number) negated() number {
	n.neg = !n.neg
	return n
}

// wide is a floating-point number with methods in place of operators.
type wide[T any] interface {
	plusNumber(T) T
	times(T) T
	less(T) T // the difference
	order(T) int
	isNaN() bool
	negative() bool
}

func wides[T wide[T]]() kernels {
	return kernels{Sum: sumWide[T], Prod: prodWide[T], Min: minWide[T], Max: maxWide[T]}
}

func sumWide[T wide[T]](out, low, high unsafe.Pointer, n int64) {
	o, l, h := views[T](out, low, high, n)
	for i := range o {
		o[i] = l[i].plusNumber(h[i])
	}
}

func prodWide[T wide[T]](out, low, high unsafe.Pointer, n int64) {
	o, l, h := views[T](out, low, high, n)
	for i := range o {
		o[i] = l[i].times(h[i])
	}
}

// minWide follows min of Go: what is no number wins, and -0 is below 0.
func minWide[T wide[T]](out, low, high unsafe.Pointer, n int64) {
	o, l, h := views[T](out, low, high, n)
	for i := range o {
		a, b := l[i], h[i]
		if c := a.order(b); !a.isNaN() && (b.isNaN() || c > 0 || c == 0 && b.negative()) {
			a = b
		}
		o[i] = a
	}
}

// maxWide follows max of Go: what is no number wins, and -0 is below 0.
func maxWide[T wide[T]](out, low, high unsafe.Pointer, n int64) {
	o, l, h := views[T](out, low, high, n)
	for i := range o {
		a, b := l[i], h[i]
		if c := a.order(b); !a.isNaN() && (b.isNaN() || c < 0 || c == 0 && !b.negative()) {
			a = b
		}
		o[i] = a
	}
}

// sumParts is sum of complex numbers.
func sumParts[T wide[T]](out, low, high unsafe.Pointer, n int64) { sumWide[T](out, low, high, 2*n) }

// prodParts is the product of complex numbers. Each operation on parts is rounded.
func prodParts[T wide[T]](out, low, high unsafe.Pointer, n int64) {
	o, l, h := views[[2]T](out, low, high, n)
	for i := range o {
		a, b := l[i], h[i]
		o[i] = [2]T{
			a[0].times(b[0]).less(a[1].times(b[1])),
			a[0].times(b[1]).plusNumber(a[1].times(b[0])),
		}
	}
}
