//go:build linux

package main

/*
#include "groups.h"
#include "info.h"
*/
import "C"

import (
	"unsafe"

	"github.com/golci/golci/mpi/internal/info"
)

//export golciSetName
func golciSetName(comm C.int, name *C.char) (class C.int) {
	defer recovered(&class)
	begun()
	text := C.GoString(name)
	return classOf(at(comm).SetName(text[:min(len(text), C.MPI_MAX_OBJECT_NAME-1)]))
}

//export golciName
func golciName(comm C.int, name *C.char, n *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	text, given := at(comm).GivenName()
	switch {
	case given:
	case comm == worldPlace:
		text = "MPI_COMM_WORLD"
	case comm == selfPlace:
		text = "MPI_COMM_SELF"
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(name)), len(text)+1)
	b[copy(b, text)] = 0
	*n = C.int(len(text))
	return C.MPI_SUCCESS
}

// hintKeys are the hints of communicators that are kept.
var hintKeys = []string{
	"mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length", "mpi_assert_allow_overtaking",
}

// keepHints adds hints to those of a communicator. golci keeps its promises without them.
func keepHints(comm C.int, handle C.uintptr_t) C.int {
	if handle == C.null_info {
		return C.MPI_SUCCESS
	}
	kept := new(info.Info)
	if old := hints[comm].Load(); old != nil {
		kept = old.Dup()
	}
	class := withInfo(handle, func(i *info.Info) error {
		for _, k := range hintKeys {
			if v, ok := i.Bool(k); ok {
				if err := kept.Set(k, map[bool]string{true: "true", false: "false"}[v]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	hints[comm].Store(kept)
	return class
}

//export golciSetHints
func golciSetHints(comm C.int, handle C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	return keepHints(comm, handle)
}

//export golciHints
func golciHints(comm C.int, made *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	i := hints[comm].Load()
	if i == nil {
		i = new(info.Info)
	}
	*made = newInfo(i.Dup())
	return C.MPI_SUCCESS
}
