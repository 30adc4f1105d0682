package signature

import (
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// Elem is what is known of an element type. It does not change, but for what is made when somebody asks.
type Elem struct {
	err             error // why slices of it may not travel
	typ             reflect.Type
	size            int           // bytes
	mixed           bool          // of no one type: they are compared with nothing
	cachedSignature atomic.Uint64 // what types are compared by; 0 until somebody asks
	datatype        atomic.Pointer[dtype.Type]
}

// NewElem looks whether elements of type t may travel: only types of fixed size without pointers may.
func NewElem(t reflect.Type) *Elem { return &Elem{err: judge(t), typ: t, size: int(t.Size())} }

// ByteElem is of bytes: what MPI sends for itself.
var ByteElem = NewElem(reflect.TypeFor[byte]())

// Err tells why slices of the type may not travel; nil if they may.
func (e *Elem) Err() error { return e.err }

// Size is the number of bytes of an element.
func (e *Elem) Size() int { return e.size }

// Datatype is the datatype of an element: its bytes.
func (e *Elem) Datatype() *dtype.Type {
	if t := e.datatype.Load(); t != nil {
		return t
	}
	t, err := dtype.Contiguous(int64(e.size), dtype.Named(dtype.Byte))
	if err != nil {
		panic(err) // no size of a type of Go is refused
	}
	t.Commit()
	e.datatype.Store(t) // two at once make the same
	return t
}

// Signature is what types are compared by; see signatureOf.
func (e *Elem) Signature() uint64 {
	if e.mixed {
		return 0
	}
	if s := e.cachedSignature.Load(); s != 0 {
		return s
	}
	s := signatureOf(e.typ) // two at once compute the same
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

// OfBytes is the signature that a message of b carries. A message without bytes has no type.
func OfBytes(b []byte, signature uint64) uint64 {
	if len(b) == 0 {
		return 0
	}
	return signature
}
