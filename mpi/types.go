package mpi

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// The hot path asks of each call whether its element type may travel. The answer for a type that may is one compare:
// its type word against a slot of plainTypes. Type words of type arguments are addresses of static data, so holding them as
// numbers keeps nothing alive that could go. This cache belongs to the program's types, not to any rank.
var (
	plainTypes [plainSlots]atomic.Uintptr // a hint; a type that is not here is looked up in judged
	judged     sync.Map                   // reflect.Type to error or nil
)

const plainSlots = 256

// known reports, for a nil *T as e, whether it is known already that slices of T may travel as bytes; typeError tells in any
// case. It has no type parameter because then it is inlined.
func known(e any) bool {
	w := typeWord(e)
	return plainTypes[plainSlot(w)].Load() == w
}

// typeWord is the address of the dynamic type of e.
func typeWord(e any) uintptr { return *(*uintptr)(unsafe.Pointer(&e)) }

func plainSlot(w uintptr) uintptr { return (w>>4 ^ w>>12) % plainSlots }

// typeError is nil if slices of T may travel. It judges a type once, and notes it where plain looks.
//
//go:noinline
func typeError[T any]() error {
	t := reflect.TypeFor[T]()
	v, ok := judged.Load(t)
	if !ok {
		v = judgement{judge(t)}
		judged.Store(t, v)
	}
	err := v.(judgement).err
	if err == nil {
		w := typeWord(any((*T)(nil)))
		plainTypes[plainSlot(w)].Store(w)
	}
	return err
}

type judgement struct{ err error }

func judge(t reflect.Type) error {
	if why := holds(t); why != "" {
		return fmt.Errorf("%w: %v: only fixed-size types without pointers can be sent, not %s (see SendValue)", ErrType, t, why)
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
