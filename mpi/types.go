package mpi

import (
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/mpi/internal/signature"
)

// The direct path asks of each call whether its element type may travel. The answer for a type that may is one compare:
// its type word against a slot of plainTypes. Type words of type arguments are addresses of static data, so holding
// them as numbers keeps nothing alive that could go.
var plainTypes [plainSlots]atomic.Uintptr // a hint: types that may travel

const plainSlots = 256

// known reports, for a nil *T as e, whether it is known already that slices of T may travel as bytes; elemOf tells in
// any case. It has no type parameter because then it is inlined.
func known(e any) bool {
	w := typeWord(e)
	return plainTypes[plainSlot(w)].Load() == w
}

// typeWord is the address of the dynamic type of e.
func typeWord(e any) uintptr { return *(*uintptr)(unsafe.Pointer(&e)) }

func plainSlot(w uintptr) uintptr { return (w>>4 ^ w>>12) % plainSlots }

// elemOf tells what is known of T, and has the direct path know it.
func elemOf[T any]() *signature.Elem {
	w := typeWord(any((*T)(nil)))
	if e := elements[plainSlot(w)].Load(); e != nil && e.word == w {
		return e.elem
	}
	return judgeElem(reflect.TypeFor[T](), w)
}

// checkedType is an element type that was asked for. It does not change.
type checkedType struct {
	word uintptr // of a pointer to it: see typeWord
	elem *signature.Elem
	next *checkedType // in the list of its slot
}

var (
	elements [plainSlots]atomic.Pointer[checkedType] // all types that were asked for, in lists of those with one slot
	judging  sync.Mutex                              // held to add to elements
)

// findElem looks for w in a list of elements.
func findElem(e *checkedType, w uintptr) *checkedType {
	for e != nil && e.word != w {
		e = e.next
	}
	return e
}

// judgeElem finds a type or judges it, which is done once, and notes it where known looks.
func judgeElem(t reflect.Type, w uintptr) *signature.Elem {
	list := &elements[plainSlot(w)]
	e := findElem(list.Load(), w)
	if e == nil {
		e = addElem(list, t, w)
	}
	if e.elem.Err() == nil {
		plainTypes[plainSlot(w)].Store(w)
	}
	return e.elem
}

func addElem(list *atomic.Pointer[checkedType], t reflect.Type, w uintptr) *checkedType {
	judging.Lock()
	defer judging.Unlock()
	first := list.Load()
	if e := findElem(first, w); e != nil { // another has been faster
		return e
	}
	e := &checkedType{word: w, elem: signature.NewElem(t), next: first}
	list.Store(e)
	return e
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
