//go:build linux

package main

/*
#include "calls.h"
#include "status.h"
*/
import "C"

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/errs"
)

// Handles of messages that are none, by the ABI.
const (
	nullMessage = 0x128 // MPI_MESSAGE_NULL
	noProcess   = 0x129 // MPI_MESSAGE_NO_PROC
)

// taken is a message that a probe has taken.
type taken struct {
	*core.Message
	comm C.int // whose handler deals with errors
}

// messages are those that have not been received yet, by their handles.
var messages struct {
	sync.Mutex
	// Under the mutex.
	all  map[C.uintptr_t]taken
	next uint32 // handles repeat after a long time
}

// mostMessages is how many there can be at once. Handles fit an int.
const mostMessages = 1 << 30

// keep gives m a handle.
func keep(m *core.Message, comm C.int) C.uintptr_t {
	messages.Lock()
	defer messages.Unlock()
	if messages.all == nil {
		messages.all = make(map[C.uintptr_t]taken)
	}
	for {
		messages.next = (messages.next + 1) % mostMessages
		handle := firstHandle + C.uintptr_t(messages.next)
		if _, ok := messages.all[handle]; !ok {
			messages.all[handle] = taken{m, comm}
			return handle
		}
	}
}

// claim takes the message of a handle, which becomes null.
func claim(handle *C.uintptr_t) (m taken, err error) {
	messages.Lock()
	defer messages.Unlock()
	m, ok := messages.all[*handle]
	if !ok {
		return m, fmt.Errorf("%w: there is no message %#x", errs.Request, *handle)
	}
	delete(messages.all, *handle)
	*handle = nullMessage
	return m, nil
}

//export golciMprobe
func golciMprobe(
	source, tag, comm, wait C.int, flag *C.int, message *C.uintptr_t, status *C.MPI_Status,
) (class C.int) {
	defer recovered(&class)
	begun()
	probe, what := at(comm).Improbe, "Improbe"
	if wait != 0 {
		probe, what = at(comm).Mprobe, "Mprobe"
	}
	m, err := probe(what, int(source), int(tag))
	*flag = 0
	if err != nil || m == nil {
		return classOf(err)
	}
	st := m.Status()
	fill(status, &st)
	*flag, *message = 1, noProcess
	if !m.NullSource() {
		*message = keep(m, comm)
	}
	return C.MPI_SUCCESS
}

// absent is the status of a receive from MPI_PROC_NULL.
var absent = core.Status{Source: core.ProcNull, Tag: core.AnyTag}

//export golciMrecv
func golciMrecv(
	mem unsafe.Pointer, count C.int64_t, datatype C.int, message *C.uintptr_t, status *C.MPI_Status, at *C.int,
) (class C.int) {
	defer recovered(&class)
	begun()
	if *message == noProcess {
		*message = nullMessage
		fill(status, &absent)
		return C.MPI_SUCCESS
	}
	m, err := claim(message)
	if err != nil {
		return classOf(err)
	}
	*at = m.comm
	st, err := m.MrecvBuf("Mrecv", buffer(mem, count, datatype))
	fill(status, &st)
	return classOf(err)
}

//export golciImrecv
func golciImrecv(
	mem unsafe.Pointer, count C.int64_t, datatype C.int, message, request *C.uintptr_t, at *C.int,
) (class C.int) {
	defer recovered(&class)
	begun()
	if *message == noProcess {
		r, err := comms[selfPlace].Load().IrecvBuf("Imrecv", core.Buf{}, core.ProcNull, 0)
		if err == nil {
			*message, *request = nullMessage, requests.add(r, selfPlace)
		}
		return classOf(err)
	}
	m, err := claim(message)
	if err != nil {
		return classOf(err)
	}
	*at = m.comm
	r, err := m.ImrecvBuf("Imrecv", buffer(mem, count, datatype))
	if err == nil {
		*request = requests.add(r, m.comm)
	}
	return classOf(err)
}
