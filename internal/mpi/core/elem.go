package core

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
	elements   [plainSlots]atomic.Pointer[Elem] // all types that were asked for, in lists of those with one slot
	judging    sync.Mutex                       // held to add to elements
)

const plainSlots = 256

// Elem is what is known of an element type. It does not change, but for the shape.
type Elem struct {
	word   uintptr // of a pointer to it: see TypeWord
	err    error   // why slices of it may not travel
	typ    reflect.Type
	shaped atomic.Uint64 // what types are compared by; 0 until somebody asks
	next   *Elem         // in the list of its slot
}

// Err tells why slices of the type may not travel; nil if they may.
func (e *Elem) Err() error { return e.err }

// shape is what types are compared by; see shapeOf.
func (e *Elem) shape() uint64 {
	if s := e.shaped.Load(); s != 0 {
		return s
	}
	s := shapeOf(e.typ) // two at once compute the same
	e.shaped.Store(s)
	return s
}

// Known reports, for a nil *T as e, whether it is known already that slices of T may travel as bytes; JudgeElem tells
// in any case. It has no type parameter because then it is inlined.
func Known(e any) bool {
	w := TypeWord(e)
	return plainTypes[plainSlot(w)].Load() == w
}

// TypeWord is the address of the dynamic type of e.
func TypeWord(e any) uintptr { return *(*uintptr)(unsafe.Pointer(&e)) }

func plainSlot(w uintptr) uintptr { return (w>>4 ^ w>>12) % plainSlots }

// ElemAt is the type with that word, if it is the first in its list; else nil.
func ElemAt(w uintptr) *Elem {
	if e := elements[plainSlot(w)].Load(); e != nil && e.word == w {
		return e
	}
	return nil
}

// findElem looks for w in a list of elements.
func findElem(e *Elem, w uintptr) *Elem {
	for e != nil && e.word != w {
		e = e.next
	}
	return e
}

// JudgeElem finds a type or judges it, which is done once, and notes it where Known looks.
func JudgeElem(t reflect.Type, w uintptr) *Elem {
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

func addElem(list *atomic.Pointer[Elem], t reflect.Type, w uintptr) *Elem {
	judging.Lock()
	defer judging.Unlock()
	first := list.Load()
	if e := findElem(first, w); e != nil { // another has been faster
		return e
	}
	e := &Elem{word: w, err: judge(t), typ: t, next: first}
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
