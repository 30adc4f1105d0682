package dtype

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/golci/golci/mpi/internal/errs"
)

// ExternalSize is how many bytes count elements of t have in external32 (14.5.2).
func ExternalSize(t *Type, count int64) int64 {
	n := int64(0)
	Walk(t, 1, func(b Basic, _, k int64) bool {
		n += k * b.fact().ext
		return true
	})
	return n * count
}

// PackExternal writes count elements at base to dst in external32, and returns how many bytes they are. errs.Truncate:
// they are more than dst has; nothing is written.
func PackExternal(dst []byte, t *Type, base unsafe.Pointer, count int64) (int64, error) {
	return external(dst, t, count, func(ext []byte, f *fact, at int64) {
		toExternal(ext, unsafe.Slice((*byte)(unsafe.Add(base, at)), f.size), f)
	})
}

// UnpackExternal is PackExternal the other way round.
func UnpackExternal(t *Type, base unsafe.Pointer, count int64, src []byte) (int64, error) {
	return external(src, t, count, func(ext []byte, f *fact, at int64) {
		fromExternal(unsafe.Slice((*byte)(unsafe.Add(base, at)), f.size), ext, f)
	})
}

// external calls each for the basics of count elements, with their places in external32.
func external(ext []byte, t *Type, count int64, each func(ext []byte, f *fact, at int64)) (int64, error) {
	if size := ExternalSize(t, count); count < 0 || size > int64(len(ext)) {
		return 0, fmt.Errorf("%w: %d bytes in external32, room for %d", errs.Truncate, size, len(ext))
	}
	pos := int64(0)
	Walk(t, count, func(b Basic, at, n int64) bool {
		f := b.fact()
		for i := range n {
			each(ext[pos:pos+f.ext], f, at+i*f.size)
			pos += f.ext
		}
		return true
	})
	return pos, nil
}

// partCount is how many numbers a basic has, each for itself in the order of bytes.
func (f *fact) partCount() int {
	if f.kind == complexKind || f.kind == extendedComplexKind {
		return 2
	}
	return 1
}

// toExternal writes a basic with its most significant byte first. A long that has no room in four bytes loses its upper
// half.
func toExternal(ext, mem []byte, f *fact) {
	parts := f.partCount()
	from, to := len(mem)/parts, len(ext)/parts
	for i := range parts {
		e, m := ext[i*to:(i+1)*to], mem[i*from:(i+1)*from]
		if x87 && f.kind >= extendedKind {
			high, low := quadOf(binary.LittleEndian.Uint16(m[8:]), binary.LittleEndian.Uint64(m))
			binary.BigEndian.PutUint64(e, high)
			binary.BigEndian.PutUint64(e[8:], low)
			continue
		}
		copyLow(e, m)
	}
}

// copyLow copies the low bytes of m to e, in the other order.
func copyLow(e, m []byte) {
	if !littleEndian {
		copy(e, m[len(m)-len(e):])
		return
	}
	copy(e, m)
	slices.Reverse(e)
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

func fromExternal(mem, ext []byte, f *fact) {
	parts := f.partCount()
	to, from := len(mem)/parts, len(ext)/parts
	for i := range parts {
		e, m := ext[i*from:(i+1)*from], mem[i*to:(i+1)*to]
		if x87 && f.kind >= extendedKind {
			top, mantissa := extendedOf(binary.BigEndian.Uint64(e), binary.BigEndian.Uint64(e[8:]))
			clear(m)
			binary.LittleEndian.PutUint64(m, mantissa)
			binary.LittleEndian.PutUint16(m[8:], top)
			continue
		}
		widen(m, e, f.kind == signedKind)
	}
}

// widen writes e, whose most significant byte is the first one, to m, which may be longer.
func widen(m, e []byte, signed bool) {
	fill := byte(0)
	if signed && e[0]&0x80 != 0 {
		fill = 0xff
	}
	for i := range m {
		k := len(e) - 1 - i
		if !littleEndian {
			k = len(e) - len(m) + i
		}
		m[i] = fill
		if k >= 0 {
			m[i] = e[k]
		}
	}
}

// An 80-bit number has sign and exponent of a quadruple, and a mantissa of 64 bits, the first of which a quadruple
// leaves out. This is by how many bits a quadruple's mantissa is longer.
const longer = 112 - 63

// quadOf is the quadruple with the value of an 80-bit number: top has sign and exponent.
func quadOf(top uint16, mantissa uint64) (high, low uint64) {
	if top&0x7fff == 0 && mantissa>>63 != 0 {
		top++ // the first number that is not denormal, written as a denormal one
	}
	fraction := mantissa << 1 >> 1
	high, low = fraction>>(64-longer), fraction<<longer
	return high | uint64(top)<<48, low
}

// extendedOf is the 80-bit number next to a quadruple, the even one if two are.
func extendedOf(high, low uint64) (top uint16, mantissa uint64) {
	top = uint16(high >> 48)
	high = high << 16 >> 16
	mantissa = high<<(64-longer) | low>>longer
	rest := low << (64 - longer)
	if top&0x7fff == 0x7fff {
		if rest != 0 {
			mantissa |= 1 // what is no number stays so
		}
		return top, mantissa | 1<<63
	}
	if top&0x7fff != 0 {
		mantissa |= 1 << 63
	}
	if rest > 1<<63 || rest == 1<<63 && mantissa&1 != 0 {
		next, carry := bits.Add64(mantissa, 1, 0)
		switch {
		case carry != 0: // to the next power of two, or to infinity
			top, next = top+1, 1<<63
		case top&0x7fff == 0 && next>>63 != 0:
			top++
		}
		mantissa = next
	}
	return top, mantissa
}
