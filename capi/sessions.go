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
	"strings"

	"github.com/golci/golci/internal/mpi/core"
	"github.com/golci/golci/internal/mpi/pure/errs"
	"github.com/golci/golci/internal/mpi/pure/group"
	"github.com/golci/golci/internal/mpi/pure/info"
)

// processSet is the group of a set of processes. Names of the standard are compared without regard to case.
func processSet(name string) (*group.Group, error) {
	p := proc.Load()
	switch strings.ToLower(name) {
	case "mpi://world":
		return p.World().Group()
	case "mpi://self":
		return p.Self().Group()
	}
	return nil, fmt.Errorf("%w: there is no process set %q", errs.Arg, name)
}

//export golciSessionGroup
func golciSessionGroup(pset *C.char, made *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	g, err := processSet(C.GoString(pset))
	return groupHandle(g, err, made)
}

//export golciSessionInfo
func golciSessionInfo(pset *C.char, made *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	key, value := "thread_level", "MPI_THREAD_MULTIPLE"
	if pset != nil {
		g, err := processSet(C.GoString(pset))
		if err != nil {
			return classOf(err)
		}
		key, value = "mpi_size", strconv.Itoa(g.Size())
	}
	i := new(info.Info)
	err := i.Set(key, value)
	*made = newInfo(i)
	return classOf(err)
}

// threadLevels are what a session may ask for.
var threadLevels = []string{
	"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE",
}

//export golciSessionHints
func golciSessionHints(handle C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	if handle == C.null_info {
		return C.MPI_SUCCESS
	}
	return withInfo(handle, func(i *info.Info) error {
		level, ok, err := i.Get("thread_level")
		if ok && !slices.Contains(threadLevels, level) {
			return fmt.Errorf("%w: there is no level of threads %q", errs.InfoValue, level)
		}
		return err
	})
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
