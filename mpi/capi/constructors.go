//go:build linux

package main

/*
#include "makers.h"
*/
import "C"

import (
	"fmt"
	"math"
	"sync"
	"unsafe"

	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/errs"
)

// maker has the arguments of a constructor.
type maker C.struct_maker

// construct makes the datatype.
func construct(m *maker) (*dtype.Type, error) {
	a, b := int64(m.args[0]), int64(m.args[1])
	switch m.by {
	case C.match_size:
		return dtype.MatchSize(dtype.Class(a), b)
	case C.MPI_COMBINER_F90_REAL:
		return dtype.F90Real(a, b)
	case C.MPI_COMBINER_F90_COMPLEX:
		return dtype.F90Complex(a, b)
	case C.MPI_COMBINER_F90_INTEGER:
		return dtype.F90Integer(a)
	case C.MPI_COMBINER_VALUE_INDEX:
		return m.pair()
	case C.component:
		return m.component()
	}
	n := int64(m.n)
	if n < 0 || n > math.MaxInt32 && m.lists[0].mem != nil {
		return nil, fmt.Errorf("%w: %d", errs.Count, n)
	}
	if m.by == C.MPI_COMBINER_STRUCT {
		return m.structure(int(n))
	}
	t, err := m.old(0)
	if err != nil {
		return nil, err
	}
	switch m.by {
	case C.MPI_COMBINER_CONTIGUOUS:
		return dtype.Contiguous(n, t)
	case C.MPI_COMBINER_VECTOR:
		return dtype.Vector(n, a, b, t)
	case C.MPI_COMBINER_HVECTOR:
		return dtype.Hvector(n, a, b, t)
	case C.MPI_COMBINER_RESIZED:
		return dtype.Resized(a, b, t)
	case C.MPI_COMBINER_DUP:
		return dtype.Dup(t)
	}
	return m.listed(int(n), t)
}

// listed makes a type of lists of n numbers.
func (m *maker) listed(n int, t *dtype.Type) (*dtype.Type, error) {
	var l [len(m.lists)][]int64
	for i := range l {
		var err error
		if l[i], err = m.list(i, n); err != nil {
			return nil, err
		}
	}
	a, b, c := int64(m.args[0]), int64(m.args[1]), int64(m.args[2])
	switch m.by {
	case C.MPI_COMBINER_INDEXED:
		return dtype.Indexed(l[0], l[1], t)
	case C.MPI_COMBINER_HINDEXED:
		return dtype.Hindexed(l[0], l[1], t)
	case C.MPI_COMBINER_INDEXED_BLOCK:
		return dtype.IndexedBlock(a, l[0], t)
	case C.MPI_COMBINER_HINDEXED_BLOCK:
		return dtype.HindexedBlock(a, l[0], t)
	case C.MPI_COMBINER_SUBARRAY:
		return dtype.Subarray(l[0], l[1], l[2], dtype.Order(a), t)
	}
	how := make([]dtype.Distribution, n)
	for i, d := range l[1] {
		how[i] = dtype.Distribution(d)
	}
	return dtype.Darray(a, b, l[0], how, l[2], l[3], dtype.Order(c), t)
}

// lists says how many lists a constructor has.
var lists = map[C.int]int{
	C.MPI_COMBINER_INDEXED: 2, C.MPI_COMBINER_HINDEXED: 2, C.MPI_COMBINER_INDEXED_BLOCK: 1,
	C.MPI_COMBINER_HINDEXED_BLOCK: 1, C.MPI_COMBINER_STRUCT: 2, C.MPI_COMBINER_SUBARRAY: 3, C.MPI_COMBINER_DARRAY: 4,
}

// list is a copy of list i.
func (m *maker) list(i, n int) ([]int64, error) {
	l := &m.lists[i]
	switch {
	case i >= lists[m.by] || n == 0:
		return nil, nil
	case l.mem == nil:
		return nil, fmt.Errorf("%w: array %d is null", errs.Arg, i)
	}
	all := make([]int64, n)
	if l.wide != 0 {
		copy(all, unsafe.Slice((*int64)(l.mem), n))
		return all, nil
	}
	for k, v := range unsafe.Slice((*int32)(l.mem), n) {
		all[k] = int64(v)
	}
	return all, nil
}

// old is the i-th type that the new one is made of. Handles are no addresses, so they are numbers here.
func (m *maker) old(i int) (*dtype.Type, error) {
	handle := C.int(unsafe.Slice((*uintptr)(unsafe.Pointer(m.types)), i+1)[i])
	if t := anyType(handle); t != nil {
		return t, nil
	}
	return nil, notType(handle)
}

func (m *maker) structure(n int) (*dtype.Type, error) {
	lengths, err := m.list(0, n)
	if err != nil {
		return nil, err
	}
	displs, err := m.list(1, n)
	if err != nil {
		return nil, err
	}
	if n > 0 && m.types == nil {
		return nil, fmt.Errorf("%w: no array of datatypes", errs.Arg)
	}
	types := make([]*dtype.Type, n)
	for i := range types {
		if types[i], err = m.old(i); err != nil {
			return nil, err
		}
	}
	return dtype.Struct(lengths, displs, types)
}

func (m *maker) pair() (*dtype.Type, error) {
	value, err := m.old(0)
	if err != nil {
		return nil, err
	}
	index, err := m.old(1)
	if err != nil {
		return nil, err
	}
	return dtype.ValueIndex(value, index)
}

// component is one of the types that a type was made of.
func (m *maker) component() (*dtype.Type, error) {
	t, err := m.old(0)
	if err != nil {
		return nil, err
	}
	_, _, _, types, err := t.Contents()
	if err != nil {
		return nil, err
	}
	return types[m.args[0]], nil
}

// parametric are the predefined types that have arguments, and their handles. Nobody frees them.
var parametric struct {
	sync.Mutex
	// Under the mutex.
	handles map[string]C.int
}

// handleOf is the handle of a predefined type: its number, or that with which such a type was made before. If there is
// none the type is to get the handle new, and it is 0. So it is of types that are not predefined.
func handleOf(t *dtype.Type, new C.int) C.int {
	if !t.Predefined() {
		return 0
	}
	if t.Basic() != 0 {
		return C.int(t.Basic())
	}
	by, _, _, _, _ := t.Envelope()
	ints, _, _, types, _ := t.Contents()
	key := fmt.Sprint(by, ints)
	for _, part := range types {
		key += fmt.Sprint(" ", handleOf(part, 0))
	}
	parametric.Lock()
	defer parametric.Unlock()
	if old := parametric.handles[key]; old != 0 || new == 0 {
		return old
	}
	if parametric.handles == nil {
		parametric.handles = make(map[string]C.int)
	}
	parametric.handles[key] = new
	return 0
}
