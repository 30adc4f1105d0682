//go:build linux

package main

/*
#include "calls.h"
#include "comms.h"
*/
import "C"

import (
	"sync/atomic"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/info"
)

// comms are the communicators at their places in the table of comms.c, which says when a place is in use.
var comms [C.comm_places]atomic.Pointer[core.Comm]

// hints are those of the communicators, which do not change; nil without.
var hints [C.comm_places]atomic.Pointer[info.Info]

// at is the communicator at a place; nil, which all calls refuse, if the program has freed it meanwhile.
func at(place C.int) *core.Comm { return comms[place].Load() }

//export golciFree
func golciFree(comm C.int) (class C.int) {
	defer recovered(&class)
	begun()
	err := at(comm).FreeLater()
	if err == nil {
		comms[comm].Store(nil)
		hints[comm].Store(nil)
	}
	return classOf(err)
}

//export golciCompare
func golciCompare(a, b C.int, result *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	r, err := at(a).Compare(at(b))
	*result = C.int(r)
	return classOf(err)
}
