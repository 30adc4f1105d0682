// Package runs moves runs of memory that lie at strides: the innermost loops of datatypes, index spaces and layouts.
//
// A place is a pointer and an offset. They are added where they are used, since a pointer beside the memory must never
// be kept. Callers have made sure that all runs lie within their memories.
package runs

import "unsafe"

// KnowsLength reports that MoveRuns moves runs of that length without a call for each.
func KnowsLength(length int64) bool {
	switch length {
	case 1, 2, 4, 8, 12, 16:
		return true
	}
	return length > 16 && length <= mostWords*16
}

// MoveRuns moves n runs of length bytes, from src to dst. Those at to are toStep bytes apart, those at from fromStep.
// The bytes that are read must not be among those that are written. Runs of dst may overlap: what comes last stays.
func MoveRuns(length int64, dst unsafe.Pointer, to, toStep int64, src unsafe.Pointer, from, fromStep, n int64) {
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
		if !KnowsLength(length) {
			moveLong(length, dst, to, toStep, src, from, fromStep, n)
			return
		}
		moveWords(length, dst, to, toStep, src, from, fromStep, n)
	}
}

// mostWords is how many words of 16 bytes the longest run has that is moved without a call.
const mostWords = 8

// moveLong moves n runs, with a call for each.
func moveLong(length int64, dst unsafe.Pointer, to, toStep int64, src unsafe.Pointer, from, fromStep, n int64) {
	for ; n > 0; n-- {
		copy(unsafe.Slice((*byte)(unsafe.Add(dst, to)), length), unsafe.Slice((*byte)(unsafe.Add(src, from)), length))
		to, from = to+toStep, from+fromStep
	}
}

// moveTwo is moveEach for runs of an A and a B. One array of 24 or 32 bytes takes three times as long.
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

// moveWords moves n runs of more than 16 bytes by words of 16. The last word ends with the run, and may begin in
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

// moveEach moves n runs of the size of T. Arrays of bytes have no alignment.
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
