package mpi

import (
	"reflect"
	"unsafe"

	"github.com/golci/golci/internal/mpi/core"
)

// elemOf tells what is known of T, and has the hot path know it.
func elemOf[T any]() *core.Elem {
	w := core.TypeWord(any((*T)(nil)))
	if e := core.ElemAt(w); e != nil {
		return e
	}
	return core.JudgeElem(reflect.TypeFor[T](), w)
}

// bytesOf is the memory of buf. The slice keeps it alive.
func bytesOf[T any](buf []T) []byte {
	var t T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(buf))), len(buf)*int(unsafe.Sizeof(t)))
}

// viewOf is b, which must be aligned for T, as a slice of T; the odd bytes at its end are left out.
func viewOf[T any](b []byte) []T {
	if n := sizeOf[T](); n > 0 {
		return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/n)
	}
	return nil
}

// sizeOf is the size of a T in bytes.
func sizeOf[T any]() int {
	var t T
	return int(unsafe.Sizeof(t))
}
