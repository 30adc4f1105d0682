package op

import (
	"cmp"
	"math"
	"math/bits"
	"unsafe"
)

// half is a floating-point number of 16 bits. Arithmetic is that of 32 bits, rounded: sums and products of two numbers
// have the bits that they would have with one rounding.
type half uint16

// float is x, exactly.
func (x half) float() float32 {
	sign, e, s := uint32(x>>15)<<31, uint32(x>>10&0x1f), uint32(x&0x3ff)
	switch {
	case e == 0x1f:
		return math.Float32frombits(sign | 0xff<<23 | s<<13)
	case e != 0:
		return math.Float32frombits(sign | (e+127-15)<<23 | s<<13)
	case s == 0:
		return math.Float32frombits(sign)
	}
	k := uint32(bits.Len32(s)) // a denormal number is s · 2^-24
	return math.Float32frombits(sign | (k+127-25)<<23 | s<<(24-k)&(1<<23-1))
}

// halfOf is the number next to f, the even one of two.
func halfOf(f float32) half {
	b := math.Float32bits(f)
	sign, e, s := half(b>>16&0x8000), int(b>>23&0xff)-127+15, b&(1<<23-1)|1<<23
	switch {
	case f != f:
		return sign | 0x7e00 | half(b>>13&0x1ff)
	case e >= 0x1f:
		return sign | 0x7c00
	case e < -10:
		return sign
	}
	drop := uint(13)
	if e <= 0 {
		drop += uint(1 - e)
		e = 0
	} else {
		e-- // the first bit of the significand adds one
	}
	rest, middle := s&(1<<drop-1), uint32(1)<<(drop-1)
	s >>= drop
	if rest > middle || rest == middle && s&1 != 0 {
		s++
	}
	return sign | half(uint32(e)<<10+s) // a carry leads to the next exponent, and to infinity
}

func (x half) plusNumber(y half) half { return halfOf(x.float() + y.float()) }
func (x half) times(y half) half      { return halfOf(x.float() * y.float()) }
func (x half) less(y half) half       { return halfOf(x.float() - y.float()) }
func (x half) order(y half) int       { return cmp.Compare(x.float(), y.float()) }
func (x half) isNaN() bool            { return x&0x7fff > 0x7c00 }
func (x half) negative() bool         { return x>>15 != 0 }

// prodHalves is the product of complex numbers. It is rounded to 16 bits once.
func prodHalves(out, low, high unsafe.Pointer, n int64) {
	o, l, h := views[[2]half](out, low, high, n)
	for i := range o {
		a, b, c, d := l[i][0].float(), l[i][1].float(), h[i][0].float(), h[i][1].float()
		o[i] = [2]half{halfOf(float32(a*c) - float32(b*d)), halfOf(float32(a*d) + float32(b*c))}
	}
}
