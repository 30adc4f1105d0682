//go:build linux

package main

/*
#include "calls.h"
#include "status.h"
*/
import "C"

import (
	"context"
	"errors"
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// none is the status of what is no message.
var none = core.Status{Source: core.AnySource, Tag: core.AnyTag}

// end waits for the request of a handle, which becomes null, or inactive if it is persistent. Its error is for the
// handler of the communicator at.
func end(what string, handle *C.uintptr_t, status *C.MPI_Status, at *C.int) C.int {
	if *handle == nullRequest {
		fill(status, &none)
		return C.MPI_SUCCESS
	}
	p := requests.find(*handle)
	if p == nil {
		*at = -1
		return classOf(unknown(*handle))
	}
	st, err := p.Wait(what)
	if errors.Is(err, sentinel.ErrCancelled) { // which the status tells (3.8.4)
		st.Cancelled, err = true, nil
	}
	fill(status, &st)
	comm := p.comm
	if p.Null() {
		requests.drop(p, handle)
	}
	if err != nil {
		*at = comm
		return classOf(err)
	}
	return C.MPI_SUCCESS
}

//export golciWait
func golciWait(request *C.uintptr_t, status *C.MPI_Status, at *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	return end("Wait", request, status, at)
}

//export golciTest
func golciTest(request *C.uintptr_t, flag *C.int, status *C.MPI_Status, at *C.int) (class C.int) {
	defer recovered(&class)
	beginLook()
	*flag = 1
	if p := requests.find(*request); p != nil && !p.Ready() {
		if poll(); !p.Ready() {
			*flag = 0
			if foundNothing(); entryOf(*request).what != C.uint64_t(*request) {
				trackRequest(*request, &p.Request)
			}
			return C.MPI_SUCCESS
		}
	}
	found()
	return end("Test", request, status, at)
}

//export golciCancel
func golciCancel(request *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	p := requests.find(*request)
	if p == nil {
		return classOf(unknown(*request))
	}
	return classOf(p.Cancel())
}

//export golciRequestFree
func golciRequestFree(request *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	p := requests.find(*request)
	if p == nil {
		return classOf(unknown(*request))
	}
	if p.Idle() || p.Called() {
		err := p.Free()
		if err == nil || p.Null() {
			requests.drop(p, request)
		}
		return classOf(err)
	}
	requests.free(p, request)
	return C.MPI_SUCCESS
}

// list is an array of n requests in C.
func list(n C.int, first *C.uintptr_t) []C.uintptr_t { return unsafe.Slice(first, int(n)) }

// statusAt is the status at i of an array; nil if there is none.
func statusAt(statuses *C.MPI_Status, i int) *C.MPI_Status {
	if statuses == nil {
		return nil
	}
	return &unsafe.Slice(statuses, i+1)[i]
}

// find looks for the places of requests. Null ones have none, nor have those that count as null.
func find(handles []C.uintptr_t, at *C.int) ([]*place, C.int) {
	places := make([]*place, len(handles))
	for i, h := range handles {
		if h == nullRequest {
			continue
		}
		switch p := requests.find(h); {
		case p == nil:
			*at = -1
			return nil, classOf(unknown(h))
		case !p.Idle():
			places[i] = p
		}
	}
	return places, C.MPI_SUCCESS
}

// valid looks whether all handles are requests, or null.
func valid(handles []C.uintptr_t, at *C.int) C.int {
	for _, h := range handles {
		if h != nullRequest && h != C.done_request && requests.find(h) == nil {
			*at = -1
			return classOf(unknown(h))
		}
	}
	return C.MPI_SUCCESS
}

// ready tells whether all of places, or one of them, is done. index is of the first that is; active tells that there is
// one that is not null.
func ready(places []*place) (index int, all, active bool) {
	index, all = -1, true
	for i, p := range places {
		switch {
		case p == nil:
			continue
		case !p.Ready():
			all = false
		case index < 0:
			index = i
		}
		active = true
	}
	return index, all, active
}

// golciAll waits for all of requests, or tests whether all are done. With MPI_ERR_IN_STATUS the statuses have errors.
//
//export golciAll
func golciAll(
	n C.int, first *C.uintptr_t, wait C.int, flag *C.int, statuses *C.MPI_Status, at *C.int,
) (class C.int) {
	defer recovered(&class)
	beginWaitOrLook(wait)
	handles := list(n, first)
	if wait != 0 {
		if class := valid(handles, at); class != C.MPI_SUCCESS {
			return class
		}
	} else {
		places, class := find(handles, at)
		if class != C.MPI_SUCCESS {
			return class
		}
		if _, all, _ := ready(places); !all {
			poll()
		}
		if _, all, _ := ready(places); !all {
			*flag = 0
			foundNothing()
			return C.MPI_SUCCESS
		}
	}
	found()
	*flag = 1
	var ended several
	for i := range handles {
		ended.end(&handles[i], statusAt(statuses, i), at)
	}
	return ended.class(statuses)
}

// several collects the errors of several requests.
type several struct {
	failed bool
	ended  []ended
	first  C.int // the class of the first error
}

// ended is a request that is done.
type ended struct {
	status *C.MPI_Status
	class  C.int
}

// end ends a request.
func (s *several) end(handle *C.uintptr_t, status *C.MPI_Status, at *C.int) {
	var comm C.int
	class := end("Wait", handle, status, &comm)
	if class != C.MPI_SUCCESS && !s.failed {
		s.failed, s.first, *at = true, class, comm
	}
	if status != nil {
		s.ended = append(s.ended, ended{status, class})
	}
}

// class is that of the whole. If a request has failed, the statuses tell which one. Without statuses it is the class of
// the first one that has.
func (s *several) class(statuses *C.MPI_Status) C.int {
	for _, e := range s.ended {
		e.status.MPI_ERROR = e.class
	}
	switch {
	case !s.failed:
		return C.MPI_SUCCESS
	case statuses == nil:
		return s.first
	}
	return C.MPI_ERR_IN_STATUS
}

// golciAny waits for one of requests, or tests whether one is done.
//
//export golciAny
func golciAny(
	n C.int, first *C.uintptr_t, wait C.int, index, flag *C.int, status *C.MPI_Status, at *C.int,
) (class C.int) {
	defer recovered(&class)
	beginWaitOrLook(wait)
	handles := list(n, first)
	places, class := find(handles, at)
	if class != C.MPI_SUCCESS {
		return class
	}
	i, active, err := one(places, wait != 0)
	if err != nil {
		*at = -1
		return classOf(err)
	}
	*index, *flag = C.MPI_UNDEFINED, 1
	switch {
	case i >= 0:
		*index = C.int(i)
		return end("Wait", &handles[i], status, at)
	case active:
		*flag = 0
	default:
		fill(status, &none)
	}
	return C.MPI_SUCCESS
}

// one gives the index of a request that is done; else it is negative. It waits, or polls once.
func one(places []*place, wait bool) (index int, active bool, err error) {
	i, _, active := ready(places)
	if i >= 0 || !active {
		return i, active, nil
	}
	if !wait {
		poll()
		if i, _, _ = ready(places); i < 0 {
			foundNothing()
		} else {
			found()
		}
		return i, true, nil
	}
	return awaitOne(places)
}

// awaitOne waits until one of places is done.
func awaitOne(places []*place) (index int, active bool, err error) {
	rs := make([]core.Request, len(places))
	for i, p := range places {
		if p != nil {
			rs[i] = p.Request
		}
	}
	if _, err := core.AwaitAny(context.Background(), "Waitany", rs); err != nil {
		return -1, true, err
	}
	i, _, _ := ready(places)
	return i, true, nil
}

// golciSome waits for at least one of requests, or polls, and ends all that are done.
//
//export golciSome
func golciSome(
	n C.int, first *C.uintptr_t, wait C.int, done, indices *C.int, statuses *C.MPI_Status, at *C.int,
) (class C.int) {
	defer recovered(&class)
	beginWaitOrLook(wait)
	handles := list(n, first)
	places, class := find(handles, at)
	if class != C.MPI_SUCCESS {
		return class
	}
	_, active, err := one(places, wait != 0)
	if err != nil {
		*at = -1
		return classOf(err)
	}
	if !active {
		*done = C.MPI_UNDEFINED
		return C.MPI_SUCCESS
	}
	var ended several
	k, which := 0, unsafe.Slice(indices, int(n))
	for i, p := range places {
		if p != nil && p.Ready() {
			ended.end(&handles[i], statusAt(statuses, k), at)
			which[k] = C.int(i)
			k++
		}
	}
	*done = C.int(k)
	return ended.class(statuses)
}
