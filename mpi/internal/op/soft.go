package op

import (
	"cmp"
	"math/bits"
)

// Arithmetic of floating-point numbers that Go does not have: those of 80 bits of the x87 unit, and quadruples. Both
// have 15 bits of exponent. Results are rounded to the nearest number, the even one of two, as the processor does it.

// value is what a floating-point number is.
type value uint8

const (
	zero value = iota
	finite
	infinite
	nan
)

// number is a floating-point number: (hi, lo) are 128 bits, the first of which is set if it is finite. It is these bits
// as a number from 1 to 2, times 2^exp.
type number struct {
	hi, lo uint64
	exp    int
	value  value
	neg    bool
}

const (
	bias        = 16383
	leastExp    = 1 - bias // of a number that is not denormal
	exponentTop = 0x7fff   // of infinity and what is no number
)

// normal is the finite number, or zero, with bits that may begin with zeros.
func normal(neg bool, hi, lo uint64, exp int) number {
	if hi == 0 {
		if lo == 0 {
			return number{neg: neg}
		}
		hi, lo, exp = lo, 0, exp-64
	}
	n := uint(bits.LeadingZeros64(hi))
	return number{hi<<n | lo>>(64-n), lo << n, exp - int(n), finite, neg}
}

// shifted is (hi, lo) shifted right. If a bit that is lost is set, the last bit is.
func shifted(hi, lo uint64, by int) (uint64, uint64) {
	lost := uint64(0)
	switch {
	case by <= 0:
		return hi, lo
	case by >= 128:
		return 0, truth[uint64](hi|lo != 0)
	case by >= 64:
		lost, hi, lo, by = lo, 0, hi, by-64
	}
	k := uint(by)
	lost |= lo << (64 - k) // nothing if k is 0
	hi, lo = hi>>k, lo>>k|hi<<(64-k)
	return hi, lo | truth[uint64](lost != 0)
}

// add is a + b, not rounded but for the last of 128 bits, which tells whether there is more.
func add(a, b number) number {
	switch {
	case a.value == nan || b.value == infinite && a.value != infinite:
		return b.unless(a.value == nan, a)
	case b.value == nan || a.value == infinite:
		if a.value == infinite && b.value == infinite && a.neg != b.neg {
			return number{value: nan}
		}
		return a.unless(b.value == nan, b)
	case a.value == zero && b.value == zero:
		return number{neg: a.neg && b.neg}
	case a.value == zero:
		return b
	case b.value == zero:
		return a
	}
	if a.exp < b.exp {
		a, b = b, a
	}
	hi, lo := shifted(b.hi, b.lo, a.exp-b.exp)
	if a.neg != b.neg {
		return difference(a, hi, lo)
	}
	sum, carry := bits.Add64(a.lo, lo, 0)
	top, carry := bits.Add64(a.hi, hi, carry)
	if carry != 0 {
		top, sum = shifted(top, sum, 1)
		top |= 1 << 63
		a.exp++
	}
	a.hi, a.lo = top, sum
	return a
}

// unless is n, or other.
func (n number) unless(take bool, other number) number {
	if take {
		return other
	}
	return n
}

// difference is a less (hi, lo), which has its exponent.
func difference(a number, hi, lo uint64) number {
	low, borrow := bits.Sub64(a.lo, lo, 0)
	top, borrow := bits.Sub64(a.hi, hi, borrow)
	switch {
	case borrow != 0: // the exponents were equal
		low, borrow = bits.Sub64(0, low, 0)
		top, _ = bits.Sub64(0, top, borrow)
		a.neg = !a.neg
	case top|low == 0:
		return number{}
	}
	return normal(a.neg, top, low, a.exp)
}

// mul is a · b, as add has it.
func mul(a, b number) number {
	neg := a.neg != b.neg
	switch {
	case a.value == nan:
		return a
	case b.value == nan:
		return b
	case a.value == infinite || b.value == infinite:
		if a.value == zero || b.value == zero {
			return number{value: nan}
		}
		return number{value: infinite, neg: neg}
	case a.value == zero || b.value == zero:
		return number{neg: neg}
	}
	hi, lo := product(a, b)
	return normal(neg, hi, lo, a.exp+b.exp+1)
}

// product is the upper half of the product of the bits.
func product(a, b number) (hi, lo uint64) {
	p3, p2 := bits.Mul64(a.hi, b.hi)
	q2, q1 := bits.Mul64(a.hi, b.lo)
	r2, r1 := bits.Mul64(a.lo, b.hi)
	s1, s0 := bits.Mul64(a.lo, b.lo)
	w1, c := bits.Add64(q1, r1, 0)
	p2, c = bits.Add64(p2, q2, c)
	p3 += c
	w1, c = bits.Add64(w1, s1, 0)
	p2, c = bits.Add64(p2, r2, c)
	p3 += c
	return p3, p2 | truth[uint64](w1|s0 != 0)
}

// rounded gives exponent, with its bias, and significand of a finite number of so many bits. The exponent of a denormal
// number is 0; one that is too large is that of infinity.
func (n number) rounded(precision int) (exp int, hi, lo uint64) {
	drop := 128 - precision
	exp = max(n.exp, leastExp)
	hi, lo = shifted(n.hi, n.lo, exp-n.exp)
	half, rest := uint64(1)<<(drop-1), lo
	if drop < 64 {
		rest &= 1<<drop - 1
		lo, hi = lo>>drop|hi<<(64-drop), hi>>drop
	} else {
		hi, lo = 0, hi
	}
	if rest > half || rest == half && lo&1 != 0 {
		var carry uint64
		lo, carry = bits.Add64(lo, 1, 0)
		hi += carry
		if carry != 0 && drop == 64 { // the next power of two
			return exp + 1 + bias, 0, 1 << 63
		}
	}
	top := lo
	if drop < 64 {
		top = hi << drop
		if hi>>(64-drop) != 0 {
			return exp + 1 + bias, hi >> 1, lo
		}
	}
	if top>>63 == 0 {
		return 0, hi, lo
	}
	return exp + bias, hi, lo
}

// compareTo orders numbers: what is no number comes first, and is equal to itself; zeros are equal.
func (n number) compareTo(b number) int {
	if n.value == nan || b.value == nan {
		return int(truth[int8](n.value != nan)) - int(truth[int8](b.value != nan))
	}
	if n.value == zero && b.value == zero {
		return 0
	}
	if n.neg != b.neg || n.value == zero || b.value == zero {
		return n.sign() - b.sign()
	}
	c := n.magnitude(b)
	if n.neg {
		return -c
	}
	return c
}

// sign is 1, 0 or -1; that of numbers of both signs and of zero differs.
func (n number) sign() int {
	switch {
	case n.value == zero:
		return 0
	case n.neg:
		return -1
	}
	return 1
}

// magnitude compares without the sign.
func (n number) magnitude(b number) int {
	return cmp.Or(
		cmp.Compare(n.value, b.value), cmp.Compare(n.exp, b.exp), cmp.Compare(n.hi, b.hi), cmp.Compare(n.lo, b.lo),
	)
}
