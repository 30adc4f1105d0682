//go:build linux

package main

/*
#include "calls.h"
*/
import "C"

import (
	"unsafe"

	"github.com/golci/golci/internal/mpi/core"
)

//export golciBsend
func golciBsend(mem unsafe.Pointer, count C.int64_t, datatype, dest, tag, comm C.int) (class C.int) {
	defer recovered(&class)
	begun()
	return classOf(at(comm).BsendBuf("Bsend", buffer(mem, count, datatype), int(dest), int(tag)))
}

// golciBsendInit makes a persistent request, or with start one whose operation is done.
//
//export golciBsendInit
func golciBsendInit(
	mem unsafe.Pointer, count C.int64_t, datatype, dest, tag, comm, start C.int, request *C.uintptr_t,
) (class C.int) {
	defer recovered(&class)
	begun()
	var r core.Request
	var err error
	if b := buffer(mem, count, datatype); start == 0 {
		r, err = at(comm).BsendInitBuf("Bsend_init", b, int(dest), int(tag))
	} else if err = at(comm).BsendBuf("Ibsend", b, int(dest), int(tag)); err == nil {
		r = at(comm).AtOnce()
	}
	if err == nil {
		*request = requests.add(r, comm)
	}
	return classOf(err)
}

// bufferAutomatic is MPI_BUFFER_AUTOMATIC.
const bufferAutomatic = 2

//export golciAttach
func golciAttach(mem unsafe.Pointer, size C.int64_t, automatic, comm C.int) (class C.int) {
	defer recovered(&class)
	begun()
	var b []byte
	if automatic == 0 {
		if b = []byte{}; size > 0 {
			b = unsafe.Slice((*byte)(mem), int(size))
		}
	}
	if comm >= 0 {
		return classOf(at(comm).AttachBuffer("Comm_attach_buffer", b))
	}
	return classOf(proc.Load().AttachBuffer("Buffer_attach", b))
}

//export golciDetach
func golciDetach(mem *C.uintptr_t, size *C.int64_t, comm C.int) (class C.int) {
	defer recovered(&class)
	begun()
	var b *core.Buffer
	var err error
	if comm >= 0 {
		b, err = at(comm).DetachBuffer("Comm_detach_buffer")
	} else {
		b, err = proc.Load().DetachBuffer("Buffer_detach")
	}
	data := b.Mem()
	if *mem, *size = 0, C.int64_t(len(data)); len(data) > 0 {
		*mem = C.uintptr_t(uintptr(unsafe.Pointer(unsafe.SliceData(data))))
	} else if b != nil && data == nil {
		*mem = bufferAutomatic
	}
	return classOf(err)
}

//export golciFlush
func golciFlush(request *C.uintptr_t, comm C.int) (class C.int) {
	defer recovered(&class)
	begun()
	r, err := proc.Load().FlushBuffer(), error(nil)
	if comm >= 0 {
		r, err = at(comm).FlushBuffer("Comm_flush_buffer")
	}
	if err == nil {
		*request = requests.add(r, comm)
	}
	return classOf(err)
}
