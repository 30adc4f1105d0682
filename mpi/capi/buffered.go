//go:build linux

package main

/*
#include "calls.h"
*/
import "C"

import (
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
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

// holder has a buffer for buffered sends.
type holder interface {
	AttachBuffer(what string, mem []byte) error
	DetachBuffer(what string) (*core.Buffer, error)
	FlushBuffer(what string) (core.Request, error)
}

// holderAt is the communicator of a place, or else the session of a handle; neither gives the rank itself.
func holderAt(comm C.int, session C.uintptr_t) (holder, error) {
	switch {
	case session != 0:
		return sessionAt(session)
	case comm >= 0:
		return at(comm), nil
	}
	return proc.Load(), nil
}

//export golciAttach
func golciAttach(mem unsafe.Pointer, size C.int64_t, automatic, comm C.int, session C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	var b []byte
	if automatic == 0 {
		if b = []byte{}; size > 0 {
			b = unsafe.Slice((*byte)(mem), int(size))
		}
	}
	h, err := holderAt(comm, session)
	if err == nil {
		err = h.AttachBuffer("attach a buffer", b)
	}
	return classOf(err)
}

//export golciDetach
func golciDetach(mem *C.uintptr_t, size *C.int64_t, comm C.int, session C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	h, err := holderAt(comm, session)
	if err != nil {
		return classOf(err)
	}
	b, err := h.DetachBuffer("detach a buffer")
	data := b.Mem()
	if *mem, *size = 0, C.int64_t(len(data)); len(data) > 0 {
		*mem = C.uintptr_t(uintptr(unsafe.Pointer(unsafe.SliceData(data))))
	} else if b != nil && data == nil {
		*mem = bufferAutomatic
	}
	return classOf(err)
}

//export golciFlush
func golciFlush(request *C.uintptr_t, comm C.int, session C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	h, err := holderAt(comm, session)
	if err != nil {
		return classOf(err)
	}
	r, err := h.FlushBuffer("flush a buffer")
	if err == nil {
		*request = requests.add(r, comm)
	}
	return classOf(err)
}
