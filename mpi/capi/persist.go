//go:build linux

package main

/*
#include "calls.h"
#include "status.h"
*/
import "C"

import (
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
)

// inits are the functions that make persistent requests, by mode.
var inits = [...]string{"Send_init", "Ssend_init", "Rsend_init", "Recv_init"}

//export golciPersist
func golciPersist(
	mem unsafe.Pointer, count C.int64_t, datatype, peer, tag, comm, mode C.int, request *C.uintptr_t,
) (class C.int) {
	defer recovered(&class)
	begun()
	var r core.Request
	var err error
	if mode == C.mode_recv {
		r, err = at(comm).RecvInitBuf(inits[mode], buffer(mem, count, datatype), int(peer), int(tag))
	} else {
		r, err = at(comm).SendInitBuf(inits[mode], buffer(mem, count, datatype), int(peer), int(tag), modes[mode])
	}
	if err != nil {
		return classOf(err)
	}
	*request = requests.add(r, comm)
	return C.MPI_SUCCESS
}

// golciStart starts requests in their order, as far as that can be.
//
//export golciStart
func golciStart(n C.int, first *C.uintptr_t, at *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	for _, h := range list(n, first) {
		p := requests.find(h)
		if p == nil {
			return classOf(unknown(h))
		}
		if err := p.Start("Start"); err != nil {
			*at = p.comm
			return classOf(err)
		}
	}
	return C.MPI_SUCCESS
}

// sides are the buffers of an exchange.
func sides(x *C.struct_exchange) (out, in core.Buf) {
	return buffer(x.out, x.sent, x.sendtype), buffer(x.in, x.room, x.recvtype)
}

//export golciExchange
func golciExchange(x *C.struct_exchange, comm C.int, status *C.MPI_Status) (class C.int) {
	defer recovered(&class)
	begun()
	c, dest, stag, source, rtag := at(comm), int(x.dest), int(x.sendtag), int(x.source), int(x.recvtag)
	out, in := sides(x)
	var st core.Status
	var err error
	if x.replace != 0 {
		st, err = c.SendrecvReplaceBuf("Sendrecv_replace", in, dest, stag, source, rtag)
	} else {
		st, err = c.SendrecvBuf("Sendrecv", out, dest, stag, in, source, rtag)
	}
	fill(status, &st)
	return classOf(err)
}

//export golciIexchange
func golciIexchange(x *C.struct_exchange, comm C.int, request *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	c, dest, stag, source, rtag := at(comm), int(x.dest), int(x.sendtag), int(x.source), int(x.recvtag)
	out, in := sides(x)
	var r core.Request
	var err error
	if x.replace != 0 {
		r, err = c.IsendrecvReplaceBuf("Isendrecv_replace", in, dest, stag, source, rtag)
	} else {
		r, err = c.IsendrecvBuf("Isendrecv", out, dest, stag, in, source, rtag)
	}
	if err == nil {
		*request = requests.add(r, comm)
	}
	return classOf(err)
}
