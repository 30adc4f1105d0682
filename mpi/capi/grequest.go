//go:build linux

package main

/*
#include "calls.h"
#include "grequest.h"
#include "status.h"
*/
import "C"

import (
	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/errs"
)

// failure is the error of a code that a function of the program has returned.
func failure(code C.int) error {
	if code == C.MPI_SUCCESS {
		return nil
	}
	return errs.Class(code)
}

//export golciGeneral
func golciGeneral(functions *C.struct_grequest, request *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	g := new(C.struct_grequest) // its pointers are of C
	*g = *functions
	r := proc.Load().StartGeneral(core.Grequest{
		Query: func() (core.Status, error) {
			var st C.MPI_Status
			code := C.grequest_query(g, &st)
			return read(&st), failure(code)
		},
		Free: func() error { return failure(C.grequest_free(g)) },
		Cancel: func(complete bool) error {
			if complete {
				return failure(C.grequest_cancel(g, 1))
			}
			return failure(C.grequest_cancel(g, 0))
		},
	})
	*request = requests.add(r, -1)
	return C.MPI_SUCCESS
}

//export golciGeneralEnd
func golciGeneralEnd(request C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	p := requests.find(request)
	if p == nil {
		return classOf(unknown(request))
	}
	return classOf(p.Complete("Grequest_complete"))
}

// read is the reverse of fill.
func read(st *C.MPI_Status) core.Status {
	words := st.MPI_internal
	return core.Status{
		Source: int(st.MPI_SOURCE), Tag: int(st.MPI_TAG), Cancelled: words[C.status_cancelled] != 0,
		Bytes: int64(words[C.status_bytes+1])<<32 | int64(uint32(words[C.status_bytes])),
	}
}
