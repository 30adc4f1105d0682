package space

import (
	"unsafe"

	"github.com/golci/golci/internal/platform/runs"
)

// The loops that move bytes. Their callers have made sure that all elements lie within both memories.

// element is what the loops move in one instruction or two.
type element interface {
	uint8 | uint16 | uint32 | uint64 | [2]uint64
}

// bytesAt is n bytes at p.
func bytesAt(p unsafe.Pointer, n int64) []byte { return unsafe.Slice((*byte)(p), n) }

// strided moves n elements of size bytes, which are ds and ss bytes apart.
func strided(d unsafe.Pointer, ds int64, s unsafe.Pointer, ss, size, n int64) {
	if n == 1 || ds == size && ss == size {
		copy(bytesAt(d, size*n), bytesAt(s, size*n))
		return
	}
	runs.MoveRuns(size, d, 0, ds, s, 0, ss, n)
}

// gather moves the elements of size bytes that list names, ss bytes apart, to places ds bytes apart.
func gather(d unsafe.Pointer, ds int64, s unsafe.Pointer, ss int64, list []int64, size int64) {
	switch size {
	case 4:
		gatherOf[uint32](d, ds, s, ss, list)
	case 8:
		gatherOf[uint64](d, ds, s, ss, list)
	default:
		for i, k := range list {
			copy(bytesAt(unsafe.Add(d, int64(i)*ds), size), bytesAt(unsafe.Add(s, k*ss), size))
		}
	}
}

func gatherOf[E element](d unsafe.Pointer, ds int64, s unsafe.Pointer, ss int64, list []int64) {
	var i int64
	for _, k := range list {
		*(*E)(unsafe.Add(d, i)) = *(*E)(unsafe.Add(s, k*ss))
		i += ds
	}
}

// scatter is gather the other way: list names the places.
func scatter(d unsafe.Pointer, ds int64, list []int64, s unsafe.Pointer, ss, size int64) {
	switch size {
	case 4:
		scatterOf[uint32](d, ds, list, s, ss)
	case 8:
		scatterOf[uint64](d, ds, list, s, ss)
	default:
		for i, k := range list {
			copy(bytesAt(unsafe.Add(d, k*ds), size), bytesAt(unsafe.Add(s, int64(i)*ss), size))
		}
	}
}

func scatterOf[E element](d unsafe.Pointer, ds int64, list []int64, s unsafe.Pointer, ss int64) {
	var i int64
	for _, k := range list {
		*(*E)(unsafe.Add(d, k*ds)) = *(*E)(unsafe.Add(s, i))
		i += ss
	}
}
