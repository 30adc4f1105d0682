//go:build linux

package main

/*
#include "comms.h"
#include "faults.h"
*/
import "C"

import (
	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/group"
)

//export golciRevoke
func golciRevoke(comm C.int) (class C.int) {
	defer recovered(&class)
	begun()
	return classOf(at(comm).Revoke())
}

//export golciRevoked
func golciRevoked(comm C.int, flag *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	*flag = 0
	if at(comm).NowRevoked() {
		*flag = 1
	}
	return C.MPI_SUCCESS
}

//export golciShrink
func golciShrink(comm C.int, n *C.struct_newcomm) (class C.int) {
	defer recovered(&class)
	begun()
	d, err := at(comm).Shrink()
	return put(d, err, n)
}

//export golciIshrink
func golciIshrink(comm, place C.int, request *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	c := at(comm)
	d, inner, err := c.Ishrink()
	if err != nil {
		return classOf(err)
	}
	comms[place].Store(d)
	*request = requests.add(after(c, inner, "Ishrink", func() {
		C.comm_fill(place, C.int(d.Rank()), C.int(d.Size()))
	}), comm)
	return C.MPI_SUCCESS
}

// after is a request that is done when inner is, and f has been called. f is called if inner has ended well.
func after(c *core.Comm, inner core.Request, what string, f func()) core.Request {
	return c.Later(what, func() error {
		_, err := inner.Wait(what)
		if err == nil {
			f()
		}
		return err
	})
}

// agreed sets the program's flag to what all agreed on.
func agreed(flag *C.int, word uint64) { *flag = C.int(int32(uint32(word))) }

//export golciAgree
func golciAgree(comm C.int, flag *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	word, err := at(comm).Agree(uint64(uint32(*flag)))
	if err == nil || classOf(err) == C.MPIX_ERR_PROC_FAILED { // ranks that have died are told beside the result
		agreed(flag, word)
	}
	return classOf(err)
}

//export golciIagree
func golciIagree(comm C.int, flag *C.int, request *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	c, word := at(comm), new(uint64)
	*word = uint64(uint32(*flag))
	inner, err := c.Iagree(word)
	if err != nil {
		return classOf(err)
	}
	*request = requests.add(after(c, inner, "Iagree", func() { agreed(flag, *word) }), comm)
	return C.MPI_SUCCESS
}

//export golciFailed
func golciFailed(comm, acknowledged C.int, made *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	c := at(comm)
	list, err := c.Failures()
	if err == nil && acknowledged != 0 {
		var n int
		n, err = c.AckFailed(0)
		list = list[:min(n, len(list))]
	}
	var all, failed *group.Group
	if err == nil {
		all, err = c.Group()
	}
	if err == nil {
		failed, err = all.Incl(list)
	}
	return groupHandle(failed, err, made)
}

//export golciAckFailed
func golciAckFailed(comm, n C.int, acked *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	k, err := at(comm).AckFailed(int(n))
	*acked = C.int(k)
	return classOf(err)
}
