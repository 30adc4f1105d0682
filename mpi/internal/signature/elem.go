package signature

import (
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/golci/golci/mpi/internal/sentinel"
)

// Elem is what is known of an element type. It does not change, but for the signature.
type Elem struct {
	err             error // why slices of it may not travel
	typ             reflect.Type
	mixed           bool          // of no one type: they are compared with nothing
	cachedSignature atomic.Uint64 // what types are compared by; 0 until somebody asks
}

// NewElem looks whether elements of type t may travel: only types of fixed size without pointers may.
func NewElem(t reflect.Type) *Elem { return &Elem{err: judge(t), typ: t} }

// ByteElem is of bytes: what MPI sends for itself.
var ByteElem = NewElem(reflect.TypeFor[byte]())

// Err tells why slices of the type may not travel; nil if they may.
func (e *Elem) Err() error { return e.err }

// Signature is what types are compared by; see Of.
func (e *Elem) Signature() uint64 {
	if e.mixed {
		return 0
	}
	if s := e.cachedSignature.Load(); s != 0 {
		return s
	}
	s := Of(e.typ) // two at once compute the same
	e.cachedSignature.Store(s)
	return s
}

func judge(t reflect.Type) error {
	if why := holds(t); why != "" {
		return fmt.Errorf("%w: %v: only fixed-size types without pointers can be sent, not %s (see SendValue)",
			sentinel.ErrType, t, why)
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
