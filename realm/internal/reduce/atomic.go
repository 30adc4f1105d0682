package reduce

import (
	"sync/atomic"
	"unsafe"
)

// update replaces the value at p, of 4 or 8 bytes and aligned to them, by f of it and v, while others do the same.
func update[T, V any](p unsafe.Pointer, f func(T, V) T, v V) {
	if unsafe.Sizeof(*(*T)(nil)) == 4 {
		update32(p, f, v)
		return
	}
	word := (*atomic.Uint64)(p)
	for {
		old := word.Load()
		next := f(*(*T)(unsafe.Pointer(&old)), v)
		if word.CompareAndSwap(old, *(*uint64)(unsafe.Pointer(&next))) {
			return
		}
	}
}

func update32[T, V any](p unsafe.Pointer, f func(T, V) T, v V) {
	word := (*atomic.Uint32)(p)
	for {
		old := word.Load()
		next := f(*(*T)(unsafe.Pointer(&old)), v)
		if word.CompareAndSwap(old, *(*uint32)(unsafe.Pointer(&next))) {
			return
		}
	}
}

// setBit sets a bit of the word at w, while others set theirs.
func setBit(w *uint64, bit uint64) {
	if word := (*atomic.Uint64)(unsafe.Pointer(w)); word.Load()&bit == 0 {
		word.Or(bit)
	}
}

// once is what is at p. If that is nil it is made, and whoever is first stores it there.
func once[T any](p **T, make func() *T) *T {
	slot := (*atomic.Pointer[T])(unsafe.Pointer(p))
	if x := slot.Load(); x != nil {
		return x
	}
	slot.CompareAndSwap(nil, make())
	return slot.Load()
}
