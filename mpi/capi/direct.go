//go:build linux

package main

/*
#include "calls.h"
#include "status.h"
#include "vain.h"
*/
import "C"

import (
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
)

// The shortest way of a send or receive: bytes in one piece, a rank and a tag without a wildcard, standard mode. Where
// the arguments are others, the functions give C.not_direct and have done nothing.

// direct is the communicator at a place, nil if a call with that peer and tag must take the other way.
func direct(place, peer, tag C.int) *core.Comm {
	c := at(place)
	if c == nil || uint(peer) >= uint(len(c.Near)) || uint(tag) > core.TagUB || c.Freed.Load() {
		return nil
	}
	return c
}

// bytesAt is memory of the program.
func bytesAt(mem unsafe.Pointer, n C.int64_t) []byte { return unsafe.Slice((*byte)(mem), int(n)) }

//export golciSendBytes
func golciSendBytes(mem unsafe.Pointer, n C.int64_t, dest, tag, place C.int) (class C.int) {
	defer recovered(&class)
	beginLook()
	c := direct(place, dest, tag)
	if c == nil {
		return C.not_direct
	}
	noteSelfSend(c, dest)
	if err := c.Srv.Send(c.Ctx, int(c.Near[dest]), int(tag), bytesAt(mem, n), nil); err != nil {
		return classOf(c.SendError("Send", int(dest), int(tag), int(n), err))
	}
	return C.MPI_SUCCESS
}

//export golciRecvBytes
func golciRecvBytes(mem unsafe.Pointer, n C.int64_t, source, tag, place C.int, status *C.MPI_Status) (class C.int) {
	defer recovered(&class)
	beginLook()
	c := direct(place, source, tag)
	if c == nil {
		return C.not_direct
	}
	st, err := c.Srv.Recv(c.Ctx, int(c.Near[source]), int(tag), bytesAt(mem, n), nil)
	if status != nil {
		status.MPI_SOURCE, status.MPI_TAG = source, tag
		status.MPI_internal = [5]C.int{C.int(int32(st.Bytes)), C.int(int32(st.Bytes >> 32))}
	}
	if err != nil {
		return classOf(c.RecvError("Recv", int(source), int(tag), int(n), err))
	}
	return C.MPI_SUCCESS
}

//export golciIsendBytes
func golciIsendBytes(mem unsafe.Pointer, n C.int64_t, dest, tag, place C.int, request *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	beginLook()
	c := direct(place, dest, tag)
	if c == nil {
		return C.not_direct
	}
	noteSelfSend(c, dest)
	r, err := c.Srv.Isend(c.Ctx, int(c.Near[dest]), int(tag), bytesAt(mem, n), nil)
	pollIfPending()
	switch {
	case err != nil:
		return classOf(c.SendError("Isend", int(dest), int(tag), int(n), err))
	case r.Null():
		*request = C.done_request
	default:
		*request = requests.add(c.Started(r), place)
	}
	return C.MPI_SUCCESS
}

// noteSelfSend is called before a send. One to the rank itself may end what it waits for, and no word of the conduit
// tells that.
func noteSelfSend(c *core.Comm, dest C.int) {
	if int(dest) == c.Rank() && C.vain.on != 0 {
		C.vain.turn++
	}
}

//export golciIrecvBytes
func golciIrecvBytes(mem unsafe.Pointer, n C.int64_t, source, tag, place C.int, request *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	beginLook()
	c := direct(place, source, tag)
	if c == nil {
		return C.not_direct
	}
	r, err := c.Srv.Irecv(c.Ctx, int(c.Near[source]), int(tag), bytesAt(mem, n), nil)
	if err != nil {
		return classOf(c.RecvError("Irecv", int(source), int(tag), int(n), err))
	}
	in := c.Started(r)
	*request = requests.add(in, place)
	trackReceive(*request, &in)
	return C.MPI_SUCCESS
}
