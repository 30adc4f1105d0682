package signature

import (
	"reflect"

	"github.com/golci/golci/mpi/internal/dtype"
)

// goTypes are the types of Go programs that send the same elements as a predefined datatype. Others count as bytes.
var goTypes = map[dtype.Basic]reflect.Type{
	dtype.Char:             reflect.TypeFor[int8](),
	dtype.SignedChar:       reflect.TypeFor[int8](),
	dtype.Int8:             reflect.TypeFor[int8](),
	dtype.Short:            reflect.TypeFor[int16](),
	dtype.Int16:            reflect.TypeFor[int16](),
	dtype.Uint16:           reflect.TypeFor[uint16](),
	dtype.UnsignedShort:    reflect.TypeFor[uint16](),
	dtype.Int:              reflect.TypeFor[int32](),
	dtype.Unsigned:         reflect.TypeFor[uint32](),
	dtype.Long:             reflect.TypeFor[int64](),
	dtype.LongLong:         reflect.TypeFor[int64](),
	dtype.UnsignedLong:     reflect.TypeFor[uint64](),
	dtype.UnsignedLongLong: reflect.TypeFor[uint64](),
	dtype.Int32:            reflect.TypeFor[int32](),
	dtype.Uint32:           reflect.TypeFor[uint32](),
	dtype.Int64:            reflect.TypeFor[int64](),
	dtype.Uint64:           reflect.TypeFor[uint64](),
	dtype.Float:            reflect.TypeFor[float32](),
	dtype.Double:           reflect.TypeFor[float64](),
	dtype.CFloatComplex:    reflect.TypeFor[complex64](),
	dtype.CDoubleComplex:   reflect.TypeFor[complex128](),
}

// Elems are the elements of predefined datatypes. Fixed.
var Elems = func() map[dtype.Basic]*Elem {
	all := make(map[dtype.Basic]*Elem)
	for _, b := range dtype.Basics() {
		t := goTypes[b]
		if t == nil {
			t = reflect.ArrayOf(int(dtype.Named(b).Size()), reflect.TypeFor[byte]())
		}
		all[b] = NewElem(t)
	}
	all[dtype.Packed] = &Anything
	return all
}()

// Anything stands for elements that are compared with nothing.
var Anything = Elem{mixed: true}

// ElemOf is what elements of t are compared by, where types are checked. Those of a derived type are compared if all of
// its basics are the same.
func ElemOf(t *dtype.Type) *Elem {
	var first dtype.Basic
	dtype.Walk(t, 1, func(b dtype.Basic, _, _ int64) bool {
		first = b
		return false
	})
	e := Elems[first]
	if e == nil || t.Sig(1) != dtype.Named(first).Sig(t.Basics()) {
		return &Anything
	}
	return e
}

// ElemsOfBasic is what ElemOf gives for predefined datatypes, by number. Fixed.
var ElemsOfBasic = func() (all [BasicTypes]*Elem) {
	for _, b := range dtype.Basics() {
		all[int(b)-FirstBasic] = ElemOf(dtype.Named(b))
	}
	return all
}()

// The numbers of predefined datatypes begin at FirstBasic. They are fewer than BasicTypes.
const (
	FirstBasic = 0x200
	BasicTypes = 0x100
)
