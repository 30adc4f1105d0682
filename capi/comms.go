//go:build linux

package main

/*
#include "calls.h"
#include "comms.h"
*/
import "C"

import (
	"errors"
	"slices"
	"sync/atomic"

	"github.com/golci/golci/internal/mpi/core"
)

// comms are the communicators at their places in the table of comms.c, which says when a place is in use.
var comms [C.comm_places]atomic.Pointer[core.Comm]

// at is the communicator at a place; nil, which all calls refuse, if the program has freed it meanwhile.
func at(place C.int) *core.Comm { return comms[place].Load() }

//export golciDup
func golciDup(comm, place C.int) (class C.int) {
	defer recovered(&class)
	d, err := at(comm).Dup()
	comms[place].Store(d)
	return classOf(err)
}

//export golciSplit
func golciSplit(comm, color, key, place C.int, rank, size *C.int) (class C.int) {
	defer recovered(&class)
	d, err := at(comm).Split(int(color), int(key))
	comms[place].Store(d)
	*rank, *size = C.int(d.Rank()), C.int(d.Size())
	return classOf(err)
}

// golciFree does not tell of what was left on the communicator.
//
//export golciFree
func golciFree(comm C.int) (class C.int) {
	defer recovered(&class)
	err := at(comm).Free()
	if errors.Is(err, core.ErrPending) {
		err = nil
	}
	if err == nil {
		comms[comm].Store(nil)
	}
	return classOf(err)
}

//export golciCompare
func golciCompare(a, b C.int, result *C.int) (class C.int) {
	defer recovered(&class)
	x, err := members(at(a))
	if err != nil {
		return classOf(err)
	}
	y, err := members(at(b))
	if err != nil {
		return classOf(err)
	}
	*result = compare(x, y)
	return C.MPI_SUCCESS
}

// members are the ranks of c in the world.
func members(c *core.Comm) (all []int, err error) {
	all = make([]int, c.Size())
	for i := range all {
		if all[i], err = c.WorldRank(i); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// compare compares the members of two communicators that are not the same.
func compare(x, y []int) C.int {
	if slices.Equal(x, y) {
		return C.MPI_CONGRUENT
	}
	slices.Sort(x)
	slices.Sort(y)
	if slices.Equal(x, y) {
		return C.MPI_SIMILAR
	}
	return C.MPI_UNEQUAL
}
