//go:build linux

package main

/*
#include "calls.h"
#include "status.h"
*/
import "C"

import (
	"errors"
	"unsafe"

	"github.com/golci/golci/mpi/internal/sentinel"
)

// look gives the class and the status of a request that is done, and leaves it. Null ones have no place.
func look(p *place, status *C.MPI_Status) C.int {
	if p == nil {
		fill(status, &none)
		return C.MPI_SUCCESS
	}
	st, _, err := p.GetStatus()
	if errors.Is(err, sentinel.ErrCancelled) {
		st.Cancelled, err = true, nil
	}
	fill(status, &st)
	return classOf(err)
}

// polled gives the places of handles, and whether all of them are done after a poll. index is of one that is done.
func polled(n C.int, first *C.uintptr_t, at *C.int) (places []*place, index int, all, active bool, class C.int) {
	places, class = find(list(n, first), at)
	if class != C.MPI_SUCCESS {
		return nil, -1, false, false, class
	}
	if _, all, _ := ready(places); !all {
		poll()
	}
	index, all, active = ready(places)
	return places, index, all, active, C.MPI_SUCCESS
}

//export golciPeek
func golciPeek(request C.uintptr_t, flag *C.int, status *C.MPI_Status, at *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	places, _, all, _, class := polled(1, &request, at)
	*flag = 0
	if class != C.MPI_SUCCESS || !all {
		return class
	}
	*flag = 1
	if places[0] != nil {
		*at = places[0].comm
	}
	return look(places[0], status)
}

//export golciPeekAll
func golciPeekAll(n C.int, first *C.uintptr_t, flag *C.int, statuses *C.MPI_Status, at *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	places, _, all, _, class := polled(n, first, at)
	*flag = 0
	if class != C.MPI_SUCCESS || !all {
		return class
	}
	*flag = 1
	var ended several
	for i, p := range places {
		ended.look(p, statusAt(statuses, i), at)
	}
	return ended.class(statuses)
}

// look is end of a request that stays.
func (s *several) look(p *place, status *C.MPI_Status, at *C.int) {
	class := look(p, status)
	if class != C.MPI_SUCCESS && !s.failed {
		s.failed, s.first, *at = true, class, p.comm
	}
	if status != nil {
		s.ended = append(s.ended, ended{status, class})
	}
}

//export golciPeekAny
func golciPeekAny(n C.int, first *C.uintptr_t, index, flag *C.int, status *C.MPI_Status, at *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	places, i, _, active, class := polled(n, first, at)
	*index, *flag = C.MPI_UNDEFINED, 0
	switch {
	case class != C.MPI_SUCCESS:
		return class
	case i >= 0:
		*index, *flag, *at = C.int(i), 1, places[i].comm
		return look(places[i], status)
	case !active:
		*flag = 1
		fill(status, &none)
	}
	return C.MPI_SUCCESS
}

//export golciPeekSome
func golciPeekSome(n C.int, first *C.uintptr_t, done, indices *C.int, statuses *C.MPI_Status, at *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	places, _, _, active, class := polled(n, first, at)
	switch {
	case class != C.MPI_SUCCESS:
		return class
	case !active:
		*done = C.MPI_UNDEFINED
		return C.MPI_SUCCESS
	}
	var ended several
	k, which := 0, unsafe.Slice(indices, int(n))
	for i, p := range places {
		if p != nil && p.Ready() {
			ended.look(p, statusAt(statuses, k), at)
			which[k] = C.int(i)
			k++
		}
	}
	*done = C.int(k)
	return ended.class(statuses)
}
