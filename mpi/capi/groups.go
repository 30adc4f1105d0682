//go:build linux

package main

/*
#include "groups.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/group"
)

// groups are those of the program.
var groups handles[*group.Group]

// groupAt is the group of a handle.
func groupAt(handle C.uintptr_t) (*group.Group, error) {
	if handle == C.empty_group {
		return group.Empty, nil
	}
	if g, ok := groups.get(uintptr(handle)); ok {
		return g, nil
	}
	return nil, fmt.Errorf("%w: there is no group %#x", errs.Group, handle)
}

// groupHandle sets a handle of g, unless there is an error.
func groupHandle(g *group.Group, err error, made *C.uintptr_t) C.int {
	switch {
	case err != nil:
		return classOf(err)
	case g.Size() == 0:
		*made = C.empty_group
	default:
		*made = C.uintptr_t(groups.add(g))
	}
	return C.MPI_SUCCESS
}

// rankList is n of the program.
func rankList(list *C.int, n C.int) []int {
	all := make([]int, n)
	for i, v := range unsafe.Slice(list, int(n)) {
		all[i] = int(v)
	}
	return all
}

//export golciGroupSize
func golciGroupSize(handle C.uintptr_t, size *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	g, err := groupAt(handle)
	if err == nil {
		*size = C.int(g.Size())
	}
	return classOf(err)
}

//export golciGroupRank
func golciGroupRank(handle C.uintptr_t, rank *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	g, err := groupAt(handle)
	if err != nil {
		return classOf(err)
	}
	*rank = C.MPI_UNDEFINED
	if p := proc.Load(); p != nil {
		if r, ok := g.RankOf(int32(p.World().Rank())); ok {
			*rank = C.int(r)
		}
	}
	return C.MPI_SUCCESS
}

//export golciGroupTranslate
func golciGroupTranslate(from C.uintptr_t, n C.int, ranks *C.int, to C.uintptr_t, found *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	a, b, err := twoGroups(from, to)
	if err != nil {
		return classOf(err)
	}
	all, err := a.Translate(rankList(ranks, n), b)
	for i, r := range all {
		unsafe.Slice(found, int(n))[i] = C.int(r)
	}
	return classOf(err)
}

func twoGroups(x, y C.uintptr_t) (a, b *group.Group, err error) {
	if a, err = groupAt(x); err == nil {
		b, err = groupAt(y)
	}
	return a, b, err
}

//export golciGroupCompare
func golciGroupCompare(x, y C.uintptr_t, result *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	a, b, err := twoGroups(x, y)
	if err == nil {
		*result = C.int(group.Compare(a, b))
	}
	return classOf(err)
}

//export golciGroupFree
func golciGroupFree(handle C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	if _, ok := groups.drop(uintptr(handle)); !ok {
		return classOf(fmt.Errorf("%w: there is no group %#x", errs.Group, handle))
	}
	return C.MPI_SUCCESS
}

//export golciGroupCombine
func golciGroupCombine(how C.int, x, y C.uintptr_t, made *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	a, b, err := twoGroups(x, y)
	if err != nil {
		return classOf(err)
	}
	f := [...]func(a, b *group.Group) *group.Group{
		C.combine_union: group.Union, C.combine_intersection: group.Intersection, C.combine_difference: group.Difference,
	}[how]
	return groupHandle(f(a, b), nil, made)
}

//export golciGroupPick
func golciGroupPick(how C.int, handle C.uintptr_t, n C.int, ranks *C.int, made *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	g, err := groupAt(handle)
	if err != nil {
		return classOf(err)
	}
	switch how {
	case C.pick_incl:
		g, err = g.Incl(rankList(ranks, n))
	case C.pick_excl:
		g, err = g.Excl(rankList(ranks, n))
	case C.pick_range_incl:
		g, err = g.RangeIncl(triplets(ranks, n))
	default:
		g, err = g.RangeExcl(triplets(ranks, n))
	}
	return groupHandle(g, err, made)
}

func triplets(ranks *C.int, n C.int) []group.Triplet {
	list := rankList(ranks, 3*n)
	all := make([]group.Triplet, n)
	for i := range all {
		all[i] = group.Triplet{First: list[3*i], Last: list[3*i+1], Stride: list[3*i+2]}
	}
	return all
}

//export golciCommGroup
func golciCommGroup(comm, remote C.int, made *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	get := at(comm).Group
	if remote != 0 {
		get = at(comm).RemoteGroup
	}
	g, err := get()
	return groupHandle(g, err, made)
}
