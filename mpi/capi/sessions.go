//go:build linux

package main

/*
#include "info.h"
#include "sessions.h"
*/
import "C"

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/info"
)

// threadLevels are what a session may ask for.
var threadLevels = []string{
	"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE",
}

// sessions are those of the program, as Go knows them.
var sessions handles[*core.Session]

func sessionAt(inner C.uintptr_t) (*core.Session, error) {
	if s, ok := sessions.get(uintptr(inner)); ok {
		return s, nil
	}
	return nil, fmt.Errorf("%w: the session has ended", errs.Session)
}

// golciSessionOpen begins a session with the hints of an info object.
//
//export golciSessionOpen
func golciSessionOpen(hints C.uintptr_t, inner *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	if hints != C.null_info {
		if class = withInfo(hints, checkHints); class != C.MPI_SUCCESS {
			return class
		}
	}
	*inner = C.uintptr_t(sessions.add(proc.Load().NewSession()))
	return C.MPI_SUCCESS
}

func checkHints(i *info.Info) error {
	level, ok, err := i.Get("thread_level")
	if ok && !slices.Contains(threadLevels, level) {
		return fmt.Errorf("%w: there is no level of threads %q", errs.InfoValue, level)
	}
	return err
}

//export golciSessionClose
func golciSessionClose(inner C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	sessions.drop(uintptr(inner))
	return C.MPI_SUCCESS
}

//export golciSessionGroup
func golciSessionGroup(inner C.uintptr_t, pset *C.char, made *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	s, err := sessionAt(inner)
	if err != nil {
		return classOf(err)
	}
	g, err := s.Group(C.GoString(pset))
	return groupHandle(g, err, made)
}

//export golciSessionInfo
func golciSessionInfo(inner C.uintptr_t, pset *C.char, made *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	s, err := sessionAt(inner)
	if err != nil {
		return classOf(err)
	}
	key, value := "thread_level", "MPI_THREAD_MULTIPLE"
	if pset != nil {
		g, err := s.Group(C.GoString(pset))
		if err != nil {
			return classOf(err)
		}
		key, value = "mpi_size", strconv.Itoa(g.Size())
	}
	i := new(info.Info)
	err = i.Set(key, value)
	*made = newInfo(i)
	return classOf(err)
}

//export golciFromGroup
func golciFromGroup(handle C.uintptr_t, tag *C.char, n *C.struct_newcomm) (class C.int) {
	defer recovered(&class)
	begun()
	g, err := groupAt(handle)
	if err != nil {
		return classOf(err)
	}
	d, err := proc.Load().CreateFromGroup(g, C.GoString(tag))
	return put(d, err, n)
}

//export golciFromGroups
func golciFromGroups(
	local C.uintptr_t, leader C.int, remote C.uintptr_t, far C.int, tag *C.char, n *C.struct_newcomm,
) (class C.int) {
	defer recovered(&class)
	begun()
	g, err := groupAt(local)
	if err != nil {
		return classOf(err)
	}
	h, _ := groupAt(remote) // matters at the leader only
	var d *core.Comm
	d, err = proc.Load().CreateInterFromGroups(g, int(leader), h, int(far), C.GoString(tag))
	return put(d, err, n)
}
