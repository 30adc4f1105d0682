//go:build linux

package main

/*
#include "calls.h"
#include "status.h"
*/
import "C"

import (
	"unsafe"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/core"
)

// modes and their functions, by the numbers of calls.h. A receive must have been posted for a ready send: that helps
// nobody here, so it is a send.
var (
	modes  = [...]comm.Mode{C.mode_send: comm.Standard, C.mode_ssend: comm.Synchronous, C.mode_rsend: comm.Standard}
	sends  = [...]string{"Send", "Ssend", "Rsend"}
	isends = [...]string{"Isend", "Issend", "Irsend"}
)

//export golciSend
func golciSend(mem unsafe.Pointer, count C.int64_t, datatype, dest, tag, comm, mode C.int) (class C.int) {
	defer recovered(&class)
	begun()
	faults()
	err := at(comm).SendBuf(sends[mode], buffer(mem, count, datatype), int(dest), int(tag), modes[mode])
	if err != nil {
		return classOf(err)
	}
	return C.MPI_SUCCESS
}

//export golciRecv
func golciRecv(
	mem unsafe.Pointer, count C.int64_t, datatype, source, tag, comm C.int, status *C.MPI_Status,
) (class C.int) {
	defer recovered(&class)
	begun()
	faults()
	st, err := at(comm).RecvBuf("Recv", buffer(mem, count, datatype), int(source), int(tag))
	fill(status, &st)
	if err != nil {
		return classOf(err)
	}
	return C.MPI_SUCCESS
}

//export golciIsend
func golciIsend(
	mem unsafe.Pointer, count C.int64_t, datatype, dest, tag, comm, mode C.int, request *C.uintptr_t,
) (class C.int) {
	defer recovered(&class)
	begun()
	faults()
	r, err := at(comm).IsendBuf(isends[mode], buffer(mem, count, datatype), int(dest), int(tag), modes[mode])
	if err != nil {
		return classOf(err)
	}
	*request = requests.add(r, comm)
	return C.MPI_SUCCESS
}

//export golciIrecv
func golciIrecv(
	mem unsafe.Pointer, count C.int64_t, datatype, source, tag, comm C.int, request *C.uintptr_t,
) (class C.int) {
	defer recovered(&class)
	begun()
	faults()
	r, err := at(comm).IrecvBuf("Irecv", buffer(mem, count, datatype), int(source), int(tag))
	if err != nil {
		return classOf(err)
	}
	*request = requests.add(r, comm)
	trackReceive(*request, &r)
	return C.MPI_SUCCESS
}

//export golciProbe
func golciProbe(source, tag, comm C.int, status *C.MPI_Status) (class C.int) {
	defer recovered(&class)
	begun()
	st, err := at(comm).Probe(int(source), int(tag))
	if err == nil {
		fill(status, &st)
	}
	return classOf(err)
}

//export golciIprobe
func golciIprobe(source, tag, comm C.int, flag *C.int, status *C.MPI_Status) (class C.int) {
	defer recovered(&class)
	beginLook()
	st, ok, err := at(comm).Iprobe(int(source), int(tag))
	*flag = 0
	switch {
	case err != nil:
		found()
	case ok:
		found()
		*flag = 1
		fill(status, &st)
	default:
		foundNothing()
	}
	return classOf(err)
}

// fill sets what the program sees of st. Its error stays: only waits for several requests set that.
func fill(status *C.MPI_Status, st *core.Status) {
	if status == nil {
		return
	}
	status.MPI_SOURCE, status.MPI_TAG = C.int(st.Source), C.int(st.Tag)
	status.MPI_internal = [5]C.int{C.int(int32(st.Bytes)), C.int(int32(st.Bytes >> 32))}
	if st.Cancelled {
		status.MPI_internal[C.status_cancelled] = 1
	}
	if st == &none { // other calls for one request leave the error alone (3.2.5)
		status.MPI_ERROR = C.MPI_SUCCESS
	}
}
