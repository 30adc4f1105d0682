package mpi

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// The hot path asks of each call whether its element type may travel. The answer for a type that may is one compare:
// its type word against a slot of plainTypes. Type words of type arguments are addresses of static data, so holding
// them as numbers keeps nothing alive that could go. This cache belongs to the program's types, not to any rank.
var (
	plainTypes [plainSlots]atomic.Uintptr       // a hint: types that may travel
	elements   [plainSlots]atomic.Pointer[elem] // all types that were asked for, in lists of those with one slot
	judging    sync.Mutex                       // held to add to elements
)

const plainSlots = 256

// elem is what is known of an element type. It does not change, but for the shape.
type elem struct {
	word   uintptr // of a pointer to it: see typeWord
	err    error   // why slices of it may not travel
	typ    reflect.Type
	shaped atomic.Uint64 // what types are compared by; 0 until somebody asks
	next   *elem         // in the list of its slot
}

// shape is what types are compared by; see shapeOf.
func (e *elem) shape() uint64 {
	if s := e.shaped.Load(); s != 0 {
		return s
	}
	s := shapeOf(e.typ) // two at once compute the same
	e.shaped.Store(s)
	return s
}

// known reports, for a nil *T as e, whether it is known already that slices of T may travel as bytes; elemOf tells in
// any case. It has no type parameter because then it is inlined.
func known(e any) bool {
	w := typeWord(e)
	return plainTypes[plainSlot(w)].Load() == w
}

// typeWord is the address of the dynamic type of e.
func typeWord(e any) uintptr { return *(*uintptr)(unsafe.Pointer(&e)) }

func plainSlot(w uintptr) uintptr { return (w>>4 ^ w>>12) % plainSlots }

// elemOf tells what is known of T, and has the hot path know it.
func elemOf[T any]() *elem {
	w := typeWord(any((*T)(nil)))
	if e := elements[plainSlot(w)].Load(); e != nil && e.word == w {
		return e
	}
	return judgeElem(reflect.TypeFor[T](), w)
}

// findElem looks for w in a list of elements.
func findElem(e *elem, w uintptr) *elem {
	for e != nil && e.word != w {
		e = e.next
	}
	return e
}

// judgeElem finds a type or judges it, which is done once, and notes it where known looks.
func judgeElem(t reflect.Type, w uintptr) *elem {
	list := &elements[plainSlot(w)]
	e := findElem(list.Load(), w)
	if e == nil {
		e = addElem(list, t, w)
	}
	if e.err == nil {
		plainTypes[plainSlot(w)].Store(w)
	}
	return e
}

func addElem(list *atomic.Pointer[elem], t reflect.Type, w uintptr) *elem {
	judging.Lock()
	defer judging.Unlock()
	first := list.Load()
	if e := findElem(first, w); e != nil { // another has been faster
		return e
	}
	e := &elem{word: w, err: judge(t), typ: t, next: first}
	list.Store(e)
	return e
}

func judge(t reflect.Type) error {
	if why := holds(t); why != "" {
		return fmt.Errorf("%w: %v: only fixed-size types without pointers can be sent, not %s (see SendValue)",
			ErrType, t, why)
	}
	return nil
}

// holds names what in t cannot travel, "" if nothing.
func holds(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return ""
	case reflect.Array:
		return holds(t.Elem())
	case reflect.Struct:
		for f := range t.NumField() {
			if why := holds(t.Field(f).Type); why != "" {
				return why + " in field " + t.Field(f).Name
			}
		}
		return ""
	}
	return "a " + t.Kind().String()
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
