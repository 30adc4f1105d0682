package dtype

import "unsafe"

// strided moves n pieces of length bytes, stride apart.
func (m *mover) strided(at, length, stride, n int64) {
	if m.direction == listing || !hasKernel(length) {
		for i := int64(0); i < n && !m.stop; i++ {
			m.movePiece(at+i*stride, length)
		}
		return
	}
	if m.direction == packing {
		moveStrides(length, m.buf, m.pos, length, m.base, at, stride, n)
	} else {
		moveStrides(length, m.base, at, stride, m.buf, m.pos, length, n)
	}
	m.pos += n * length
}

// scattered moves pieces of length bytes at any places.
func (m *mover) scattered(at, length int64, offs []int64) {
	switch {
	case m.direction == listing || length != 4 && length != 8 && length != 16:
		for _, o := range offs {
			if m.stop {
				return
			}
			m.movePiece(at+o, length)
		}
		return
	case m.direction == packing && length == 4:
		gather[[4]byte](m.buf, m.pos, m.base, at, offs)
	case m.direction == packing && length == 8:
		gather[[8]byte](m.buf, m.pos, m.base, at, offs)
	case m.direction == packing:
		gather[[16]byte](m.buf, m.pos, m.base, at, offs)
	case length == 4:
		scatter[[4]byte](m.buf, m.pos, m.base, at, offs)
	case length == 8:
		scatter[[8]byte](m.buf, m.pos, m.base, at, offs)
	default:
		scatter[[16]byte](m.buf, m.pos, m.base, at, offs)
	}
	m.pos += int64(len(offs)) * length
}

// wholeList packs or unpacks all of a list.
func (m *mover) wholeList(p *node, at int64) {
	dst, src, pos, from := m.buf, m.base, m.pos, int64(0)
	if m.direction == packing {
		for i, o := range p.offs {
			n := p.ends[i] - from
			moveOne(dst, pos+from, src, at+o, n)
			from += n
		}
	} else {
		for i, o := range p.offs {
			n := p.ends[i] - from
			moveOne(src, at+o, dst, pos+from, n)
			from += n
		}
	}
	m.pos += from
}

// moveOne moves a piece. Those that are as long as a number need no call.
func moveOne(dst unsafe.Pointer, to int64, src unsafe.Pointer, from, n int64) {
	switch n {
	case 8:
		*(*[8]byte)(unsafe.Add(dst, to)) = *(*[8]byte)(unsafe.Add(src, from))
	case 4:
		*(*[4]byte)(unsafe.Add(dst, to)) = *(*[4]byte)(unsafe.Add(src, from))
	case 16:
		*(*[16]byte)(unsafe.Add(dst, to)) = *(*[16]byte)(unsafe.Add(src, from))
	default:
		copy(unsafe.Slice((*byte)(unsafe.Add(dst, to)), n), unsafe.Slice((*byte)(unsafe.Add(src, from)), n))
	}
}

// hasKernel reports that moveStrides knows pieces of that length.
func hasKernel(length int64) bool {
	switch length {
	case 1, 2, 4, 8, 12, 16:
		return true
	}
	return length > 16 && length <= mostWords*16
}

// moveStrides moves n pieces of length bytes. Those at to are toStep apart, those at from fromStep.
func moveStrides(length int64, dst unsafe.Pointer, to, toStep int64, src unsafe.Pointer, from, fromStep, n int64) {
	switch length {
	case 1:
		moveEach[[1]byte](dst, to, toStep, src, from, fromStep, n)
	case 2:
		moveEach[[2]byte](dst, to, toStep, src, from, fromStep, n)
	case 4:
		moveEach[[4]byte](dst, to, toStep, src, from, fromStep, n)
	case 8:
		moveEach[[8]byte](dst, to, toStep, src, from, fromStep, n)
	case 12:
		moveTwo[[8]byte, [4]byte](dst, to, toStep, src, from, fromStep, n)
	case 16:
		moveEach[[16]byte](dst, to, toStep, src, from, fromStep, n)
	case 24:
		moveTwo[[16]byte, [8]byte](dst, to, toStep, src, from, fromStep, n)
	case 32:
		moveTwo[[16]byte, [16]byte](dst, to, toStep, src, from, fromStep, n)
	case 64:
		moveEach[[64]byte](dst, to, toStep, src, from, fromStep, n)
	default:
		moveWords(length, dst, to, toStep, src, from, fromStep, n)
	}
}

// mostWords is how many words of 16 bytes the longest piece has that is moved without a call.
const mostWords = 8

// moveTwo is moveEach for pieces of an A and a B. One array of 24 or 32 bytes takes three times as long.
func moveTwo[A, B any](dst unsafe.Pointer, to, toStep int64, src unsafe.Pointer, from, fromStep, n int64) {
	second := int64(unsafe.Sizeof(*new(A)))
	for ; n >= 2; n -= 2 {
		*(*A)(unsafe.Add(dst, to)) = *(*A)(unsafe.Add(src, from))
		*(*B)(unsafe.Add(dst, to+second)) = *(*B)(unsafe.Add(src, from+second))
		*(*A)(unsafe.Add(dst, to+toStep)) = *(*A)(unsafe.Add(src, from+fromStep))
		*(*B)(unsafe.Add(dst, to+toStep+second)) = *(*B)(unsafe.Add(src, from+fromStep+second))
		to, from = to+2*toStep, from+2*fromStep
	}
	if n > 0 {
		*(*A)(unsafe.Add(dst, to)) = *(*A)(unsafe.Add(src, from))
		*(*B)(unsafe.Add(dst, to+second)) = *(*B)(unsafe.Add(src, from+second))
	}
}

// moveWords moves n pieces of more than 16 bytes by words of 16. The last word ends with the piece, and may begin in
// the word before.
func moveWords(
	length int64, dst unsafe.Pointer, to, toStep int64, src unsafe.Pointer, from, fromStep, n int64,
) {
	last := length - 16
	for ; n > 0; n-- {
		for o := int64(0); o < last; o += 16 {
			*(*[16]byte)(unsafe.Add(dst, to+o)) = *(*[16]byte)(unsafe.Add(src, from+o))
		}
		*(*[16]byte)(unsafe.Add(dst, to+last)) = *(*[16]byte)(unsafe.Add(src, from+last))
		to, from = to+toStep, from+fromStep
	}
}

// moveEach moves n pieces of the size of T. Arrays of bytes have no alignment.
func moveEach[T any](dst unsafe.Pointer, to, toStep int64, src unsafe.Pointer, from, fromStep, n int64) {
	for ; n >= 4; n -= 4 {
		*(*T)(unsafe.Add(dst, to)) = *(*T)(unsafe.Add(src, from))
		*(*T)(unsafe.Add(dst, to+toStep)) = *(*T)(unsafe.Add(src, from+fromStep))
		*(*T)(unsafe.Add(dst, to+2*toStep)) = *(*T)(unsafe.Add(src, from+2*fromStep))
		*(*T)(unsafe.Add(dst, to+3*toStep)) = *(*T)(unsafe.Add(src, from+3*fromStep))
		to, from = to+4*toStep, from+4*fromStep
	}
	for ; n > 0; n-- {
		*(*T)(unsafe.Add(dst, to)) = *(*T)(unsafe.Add(src, from))
		to, from = to+toStep, from+fromStep
	}
}

func gather[T any](buf unsafe.Pointer, pos int64, base unsafe.Pointer, at int64, offs []int64) {
	for _, o := range offs {
		*(*T)(unsafe.Add(buf, pos)) = *(*T)(unsafe.Add(base, at+o))
		pos += int64(unsafe.Sizeof(*new(T)))
	}
}

func scatter[T any](buf unsafe.Pointer, pos int64, base unsafe.Pointer, at int64, offs []int64) {
	for _, o := range offs {
		*(*T)(unsafe.Add(base, at+o)) = *(*T)(unsafe.Add(buf, pos))
		pos += int64(unsafe.Sizeof(*new(T)))
	}
}
