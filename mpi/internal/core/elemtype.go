package core

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

// elems are the elements of predefined datatypes. Fixed.
var elems = func() map[dtype.Basic]*Elem {
	all := make(map[dtype.Basic]*Elem)
	for _, b := range dtype.Basics() {
		t := goTypes[b]
		if t == nil {
			t = reflect.ArrayOf(int(dtype.Named(b).Size()), reflect.TypeFor[byte]())
		}
		all[b] = NewElem(t)
	}
	all[dtype.Packed] = &anything
	return all
}()

// anything stands for elements that are compared with nothing.
var anything = Elem{mixed: true}

// ElemOf is what elements of t are compared by, where types are checked. Those of a derived type are compared if all of
// its basics are the same.
func ElemOf(t *dtype.Type) *Elem {
	var first dtype.Basic
	dtype.Walk(t, 1, func(b dtype.Basic, _, _ int64) bool {
		first = b
		return false
	})
	e := elems[first]
	if e == nil || t.Sig(1) != dtype.Named(first).Sig(t.Basics()) {
		return &anything
	}
	return e
}

// elemsOfBasic is what ElemOf gives for predefined datatypes, by number. Fixed.
var elemsOfBasic = func() (all [basicTypes]*Elem) {
	for _, b := range dtype.Basics() {
		all[int(b)-firstBasic] = ElemOf(dtype.Named(b))
	}
	return all
}()

// elemsOf is what the elements of a collective are compared by: those of all ranks must be the same, but where each pair
// of ranks may have its own. A rank that brings nothing may have any.
func (c *Comm) elemsOf(k *Coll, u *bufferUsage) *Elem {
	if c.local != nil || k.neighbors() || k.Kind == KindAlltoallv || k.Kind == KindAlltoallw {
		return &anything
	}
	t := k.Out.T
	if !u.out || k.Out.Place || k.Kind == KindScatterv && u.root {
		t = k.In.T
	}
	if t == nil {
		return &anything
	}
	if i := int(t.Basic()) - firstBasic; uint(i) < basicTypes && elemsOfBasic[i] != nil {
		return elemsOfBasic[i]
	}
	return ElemOf(t)
}

// signatureOf is what messages of elements of b are compared by, 0 where types are not checked.
func (c *Comm) signatureOf(b *Buf) uint64 {
	switch {
	case !c.checked:
		return 0
	case b.Of != nil:
		return b.Of.signature()
	case b.T == nil:
		return elems[dtype.Byte].signature()
	}
	return ElemOf(b.T).signature()
}
