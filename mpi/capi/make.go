//go:build linux

package main

/*
#include "groups.h"
*/
import "C"

import (
	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/hardware"
)

// put puts a new communicator at its place, if there is one, and tells C of it.
func put(d *core.Comm, err error, n *C.struct_newcomm) C.int {
	if err != nil || d == nil {
		return classOf(err)
	}
	comms[n.place].Store(d)
	n.made, n.rank, n.size = 1, C.int(d.Rank()), C.int(d.Size())
	if d.Inter() {
		remote, _ := d.RemoteSize() // 0 if it is not ready: Idup sets it
		n.remote = C.int(remote)
	}
	return C.MPI_SUCCESS
}

//export golciDup
func golciDup(comm C.int, n *C.struct_newcomm) (class C.int) {
	defer recovered(&class)
	begun()
	d, err := at(comm).Dup()
	return put(d, err, n)
}

//export golciIdup
func golciIdup(comm C.int, n *C.struct_newcomm, request *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	c := at(comm)
	d, r, err := c.Idup()
	if err != nil {
		return classOf(err)
	}
	class = put(d, nil, n)
	if c.Inter() {
		remote, _ := c.RemoteSize()
		n.remote = C.int(remote)
	}
	*request = requests.add(r, comm)
	return class
}

//export golciSplit
func golciSplit(comm, color, key C.int, n *C.struct_newcomm) (class C.int) {
	defer recovered(&class)
	begun()
	d, err := at(comm).Split(int(color), int(key))
	return put(d, err, n)
}

//export golciSplitType
func golciSplitType(comm, kind, key C.int, info C.uintptr_t, n *C.struct_newcomm) (class C.int) {
	defer recovered(&class)
	begun()
	want, err := wanted(kind, info)
	if err != nil {
		return classOf(err)
	}
	d, got, err := at(comm).SplitHardware("MPI_Comm_split_type", want, int(key))
	if err == nil && d != nil && want == hardware.Any {
		err = tellKind(info, got)
	}
	return put(d, err, n)
}

//export golciCreate
func golciCreate(comm C.int, handle C.uintptr_t, n *C.struct_newcomm) (class C.int) {
	defer recovered(&class)
	begun()
	g, err := groupAt(handle)
	if err != nil {
		return classOf(err)
	}
	d, err := at(comm).Create(g)
	return put(d, err, n)
}

//export golciCreateGroup
func golciCreateGroup(comm C.int, handle C.uintptr_t, tag C.int, n *C.struct_newcomm) (class C.int) {
	defer recovered(&class)
	begun()
	g, err := groupAt(handle)
	if err != nil {
		return classOf(err)
	}
	d, err := at(comm).CreateGroup(g, int(tag))
	return put(d, err, n)
}

//export golciCreateInter
func golciCreateInter(comm, leader, peer, remote, tag C.int, n *C.struct_newcomm) (class C.int) {
	defer recovered(&class)
	begun()
	var p *core.Comm
	if peer >= 0 {
		p = at(peer)
	}
	d, err := at(comm).CreateInter(int(leader), p, int(remote), int(tag))
	return put(d, err, n)
}

//export golciMerge
func golciMerge(comm, high C.int, n *C.struct_newcomm) (class C.int) {
	defer recovered(&class)
	begun()
	d, err := at(comm).Merge(high != 0)
	return put(d, err, n)
}
