//go:build linux

package main

/*
#include "abi.h"
*/
import "C"

import (
	"reflect"

	"github.com/golci/golci/internal/mpi/core"
	"github.com/golci/golci/internal/mpi/pure/dtype"
)

// firstDatatype is the lowest handle of a predefined datatype. All are less than datatypes above it.
const (
	firstDatatype = 0x200
	datatypes     = 0x100
)

// elems are the predefined datatypes as package core compares them, by their handles. Fixed.
var elems = func() (all [datatypes]*core.Elem) {
	for _, b := range dtype.Basics() {
		t := goTypes[b]
		if t == nil {
			t = reflect.ArrayOf(int(dtype.Named(b).Size()), reflect.TypeFor[byte]())
		}
		all[int(b)-firstDatatype] = core.NewElem(t)
	}
	return all
}()

// elem is the datatype of that handle, which C has checked.
func elem(datatype C.int) *core.Elem { return elems[datatype-firstDatatype] }

// goTypes are the types of Go programs that send the same elements. Where types are checked, others count as bytes.
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
