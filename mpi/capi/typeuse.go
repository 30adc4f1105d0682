//go:build linux

package main

/*
#include "makers.h"
*/
import "C"

import (
	"sync"
	"unsafe"

	"github.com/golci/golci/mpi/internal/dtype"
)

//export golciElements
func golciElements(datatype C.int, bytes C.int64_t) C.int64_t {
	if t := anyType(datatype); t != nil {
		if n, whole := t.Elements(int64(bytes)); whole {
			return C.int64_t(n)
		}
	}
	return C.MPI_UNDEFINED
}

//export golciElementBytes
func golciElementBytes(datatype C.int, n C.int64_t, bytes *C.MPI_Count) C.int {
	t := anyType(datatype)
	if t == nil {
		return 0
	}
	b, ok := t.BytesOf(int64(n))
	if !ok {
		return 0
	}
	*bytes = C.MPI_Count(b)
	return 1
}

// typeNames are the names that the program has given to datatypes, by their handles.
var typeNames sync.Map // C.int to string

//export golciTypeSetName
func golciTypeSetName(datatype C.int, name *C.char) {
	text := C.GoString(name)
	typeNames.Store(datatype, text[:min(len(text), C.MPI_MAX_OBJECT_NAME-1)])
}

//export golciTypeName
func golciTypeName(datatype C.int, name *C.char) C.int {
	text := "MPI_DATATYPE_NULL"
	if given, ok := typeNames.Load(datatype); ok {
		text = given.(string)
	} else if t := anyType(datatype); t != nil {
		if text = ""; t.Basic() != 0 {
			text = t.Basic().String()
		}
	}
	to := unsafe.Slice((*byte)(unsafe.Pointer(name)), len(text)+1)
	to[copy(to, text)] = 0
	return C.int(len(text))
}

//export golciTypeEnvelope
func golciTypeEnvelope(datatype C.int, n *C.int64_t, combiner *C.int) {
	by, ints, addrs, counts, types := anyType(datatype).Envelope()
	copy(unsafe.Slice(n, 4), []C.int64_t{C.int64_t(ints), C.int64_t(addrs), C.int64_t(counts), C.int64_t(types)})
	*combiner = C.int(by)
}

//export golciTypeContents
func golciTypeContents(datatype C.int, ints *C.int, addrs *C.MPI_Aint, counts *C.MPI_Count) {
	i, a, c, _, _ := anyType(datatype).Contents() // C has looked whether there are any
	for k := range i {
		unsafe.Slice(ints, len(i))[k] = C.int(i[k])
	}
	for k := range a {
		unsafe.Slice(addrs, len(a))[k] = C.MPI_Aint(a[k])
	}
	for k := range c {
		unsafe.Slice(counts, len(c))[k] = C.MPI_Count(c[k])
	}
}

//export golciPack
func golciPack(
	mem unsafe.Pointer, count C.int64_t, datatype C.int, packed unsafe.Pointer, size C.int64_t, position *C.MPI_Count,
	way C.int,
) (class C.int) {
	defer recovered(&class)
	begun()
	b := buffer(mem, count, datatype)
	to := unsafe.Slice((*byte)(packed), int(size))[*position:]
	var n int64
	var err error
	switch way {
	case C.way_pack:
		n, err = b.Pack(to)
	case C.way_unpack:
		n, err = b.Unpack(to)
	case C.way_external:
		n, err = dtype.PackExternal(to, b.T, b.Mem, b.N)
	case C.way_from_external:
		n, err = dtype.UnpackExternal(b.T, b.Mem, b.N, to)
	}
	if err != nil {
		return classOf(err)
	}
	*position += C.MPI_Count(n)
	return C.MPI_SUCCESS
}

//export golciExternalSize
func golciExternalSize(count C.int64_t, datatype C.int) C.int64_t {
	return C.int64_t(dtype.ExternalSize(anyType(datatype), int64(count)))
}
