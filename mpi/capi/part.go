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

//export golciPart
func golciPart(
	mem unsafe.Pointer, count C.int64_t, parts, datatype, peer, tag, comm, send C.int, request *C.uintptr_t,
) (class C.int) {
	defer recovered(&class)
	begun()
	var r core.Request
	var err error
	if b := buffer(mem, count, datatype); send != 0 {
		r, err = at(comm).PsendInitBuf("Psend_init", b, int(parts), int(peer), int(tag))
	} else {
		r, err = at(comm).PrecvInitBuf("Precv_init", b, int(parts), int(peer), int(tag))
	}
	if err == nil {
		*request = requests.add(r, comm)
	}
	return classOf(err)
}

//export golciPready
func golciPready(request C.uintptr_t, first, last C.int, at *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	p := requests.find(request)
	if p == nil {
		return classOf(unknown(request))
	}
	*at = p.comm
	return classOf(p.Pready("Pready", int(first), int(last)))
}

//export golciParrived
func golciParrived(request C.uintptr_t, part C.int, flag, at *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	*flag = 1
	if request == nullRequest {
		return C.MPI_SUCCESS
	}
	p := requests.find(request)
	if p == nil {
		return classOf(unknown(request))
	}
	*at = p.comm
	here, err := p.Parrived("Parrived", int(part))
	if !here {
		*flag = 0
	}
	return classOf(err)
}
