//go:build linux

package main

/*
#include "makers.h"
*/
import "C"

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/errs"
)

// derivedType is a datatype that is not predefined, with its handle.
type derivedType struct {
	handle C.int
	*dtype.Type
}

// derivedTypes are at the places of the table of types.c, which says when a place is in use.
var derivedTypes [C.type_places]atomic.Pointer[derivedType]

func typePlace(handle C.int) *atomic.Pointer[derivedType] {
	return &derivedTypes[(handle-C.first_type)&(1<<C.type_place_bits-1)%C.type_places]
}

// anyType is the datatype of a handle, nil if there is none. It may be used in constructors.
func anyType(handle C.int) *dtype.Type {
	if handle < C.first_type {
		return dtype.Named(dtype.Basic(max(handle, 0)))
	}
	if t := typePlace(handle).Load(); t != nil && t.handle == handle {
		return t.Type
	}
	return nil
}

// typeOf is the datatype of a handle for messages. The class is MPI_ERR_TYPE if there is none, or it is not committed.
func typeOf(handle C.int) (t *dtype.Type, class C.int) {
	if t = anyType(handle); t == nil || !t.Committed() {
		return nil, C.MPI_ERR_TYPE
	}
	return t, C.MPI_SUCCESS
}

// buffer is one of the program. C has looked at the handle of its datatype.
func buffer(mem unsafe.Pointer, count C.int64_t, datatype C.int) core.Buf {
	return core.Buf{Mem: mem, N: int64(count), T: anyType(datatype)}
}

//export golciTypeMake
func golciTypeMake(m *C.struct_maker, handle *C.int, to *C.struct_type) (class C.int) {
	defer recovered(&class)
	begun()
	t, err := construct((*maker)(m))
	if err != nil {
		return classOf(err)
	}
	if t == nil { // there is no such pair
		*handle = C.null_type
		return C.MPI_SUCCESS
	}
	if old := handleOf(t, *handle); old != 0 {
		*handle = old
		return C.MPI_SUCCESS
	}
	if m.large != 0 {
		t.Large()
	}
	if t.Predefined() {
		m.permanent = 1
	}
	typePlace(*handle).Store(&derivedType{*handle, t})
	mirror(to, t)
	return C.MPI_SUCCESS
}

// mirror tells C what it knows of t.
func mirror(to *C.struct_type, t *dtype.Type) {
	lb, extent := t.Bounds()
	trueLB, trueExtent := t.TrueBounds()
	*to = C.struct_type{
		size: C.MPI_Count(t.Size()), lb: C.MPI_Count(lb), extent: C.MPI_Count(extent),
		true_lb: C.MPI_Count(trueLB), true_extent: C.MPI_Count(trueExtent), derived: 1,
	}
	if !t.Dense() {
		to.sparse = 1
	}
	if !t.Committed() {
		to.open = 1
	}
}

//export golciTypeFree
func golciTypeFree(datatype C.int) {
	typePlace(datatype).Store(nil)
	typeNames.Delete(datatype)
}

//export golciTypeCommit
func golciTypeCommit(datatype C.int) {
	if t := anyType(datatype); t != nil {
		t.Commit()
	}
}

// notType is the error of a handle that is no datatype.
func notType(handle C.int) error {
	return fmt.Errorf("%w: there is no datatype %#x", errs.Type, handle)
}
