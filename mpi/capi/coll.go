//go:build linux

package main

/*
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/op"
)

// kindNames are the functions, by the numbers of calls.h, which are those of package argument.
var kindNames = [...]string{
	C.kind_barrier: "Barrier", C.kind_bcast: "Bcast", C.kind_gather: "Gather", C.kind_gatherv: "Gatherv",
	C.kind_scatter: "Scatter", C.kind_scatterv: "Scatterv", C.kind_allgather: "Allgather",
	C.kind_allgatherv: "Allgatherv", C.kind_alltoall: "Alltoall", C.kind_alltoallv: "Alltoallv",
	C.kind_alltoallw: "Alltoallw", C.kind_reduce: "Reduce", C.kind_allreduce: "Allreduce",
	C.kind_reduce_scatter: "Reduce_scatter", C.kind_reduce_scatter_block: "Reduce_scatter_block",
	C.kind_scan: "Scan", C.kind_exscan: "Exscan", C.kind_neighbor_allgather: "Neighbor_allgather",
	C.kind_neighbor_allgatherv: "Neighbor_allgatherv", C.kind_neighbor_alltoall: "Neighbor_alltoall",
	C.kind_neighbor_alltoallv: "Neighbor_alltoallv", C.kind_neighbor_alltoallw: "Neighbor_alltoallw",
}

// startNames are those of the functions that do not wait.
var startNames = func() (names [len(kindNames)]string) {
	for i, name := range kindNames {
		names[i] = "I" + strings.ToLower(name)
	}
	return names
}()

//export golciColl
func golciColl(call *C.struct_coll) (class C.int) {
	defer recoveredColl(&class, call)
	begun()
	faults()
	c := at(call.comm)
	if argument.Kind(call.kind) == argument.KindBarrier { // it has no arguments to look at
		return classOf(c.Barrier())
	}
	k := argument.Description{Kind: argument.Kind(call.kind), What: kindNames[call.kind]}
	err := collective(&k, c, call)
	if err == nil {
		err = c.Do(&k)
	}
	if err != nil {
		return classOf(err)
	}
	return C.MPI_SUCCESS
}

//export golciCollStart
func golciCollStart(call *C.struct_coll, request *C.uintptr_t) (class C.int) {
	defer recoveredColl(&class, call)
	begun()
	return requested(call, startNames[call.kind], (*core.Comm).Start, request)
}

//export golciCollInit
func golciCollInit(call *C.struct_coll, request *C.uintptr_t) (class C.int) {
	defer recoveredColl(&class, call)
	begun()
	return requested(call, kindNames[call.kind]+"_init", (*core.Comm).CollInit, request)
}

// requested makes a request of a call.
func requested(
	call *C.struct_coll, what string, f func(c *core.Comm, k *argument.Description) (core.Request, error),
	request *C.uintptr_t,
) C.int {
	k := argument.Description{Kind: argument.Kind(call.kind), What: what}
	c := at(call.comm)
	if err := collective(&k, c, call); err != nil {
		return classOf(err)
	}
	r, err := f(c, &k)
	if err != nil {
		return classOf(err)
	}
	*request = requests.add(r, call.comm)
	return C.MPI_SUCCESS
}

// collective fills in k what a program gives. What the rank does not use may be anything.
func collective(k *argument.Description, c *core.Comm, call *C.struct_coll) error {
	k.Root = int(call.root)
	ins, outs := c.Used(k)
	if ins >= 0 {
		sideOf(&k.In, &call.in, ins)
	}
	if outs >= 0 || k.Kind == argument.KindReduceScatter {
		sideOf(&k.Out, &call.out, max(outs, 0))
	}
	if k.Kind == argument.KindReduceScatter {
		if call.out.counts == nil {
			return fmt.Errorf("%w: there are no counts", errs.Arg)
		}
		k.Out.Parts.Counts = numbers(call.out.counts, c.Size(), call.out.wide_counts != 0)
	}
	if k.Reduces() {
		var err error
		k.Op, err = operation(uintptr(unsafe.Pointer(call.op)), call.out._type)
		return err
	}
	return nil
}

// sideOf gives s a buffer of n parts; 0: it is no array of parts.
func sideOf(s *argument.Side, from *C.struct_side, n int) {
	if uintptr(from.mem) == C.in_place {
		s.Place = true
		return
	}
	s.Mem, s.N = from.mem, int64(from.n)
	if from.types == nil {
		s.T = anyType(number(from._type))
	} else {
		s.Mixed = &argument.MixedParts{Types: make([]*dtype.Type, n)}
		for i, t := range unsafe.Slice(from.types, n) {
			s.Mixed.Types[i] = anyType(number(t))
		}
	}
	if n > 0 && from.counts != nil {
		s.Parts.Counts = numbers(from.counts, n, from.wide_counts != 0)
		s.Parts.Displs = numbers(from.displs, n, from.wide_displs != 0)
	}
}

// number is that of a handle.
func number(datatype C.MPI_Datatype) C.int { return C.int(uintptr(unsafe.Pointer(datatype))) }

// numbers are n numbers of C.
func numbers(mem unsafe.Pointer, n int, wide bool) []int {
	if mem == nil {
		return nil
	}
	all := make([]int, n)
	if wide {
		copy(all, unsafe.Slice((*int)(mem), n)) // of 64 bits on all systems of this library
		return all
	}
	for i, v := range unsafe.Slice((*int32)(mem), n) {
		all[i] = int(v)
	}
	return all
}

//export golciReduceLocal
func golciReduceLocal(call *C.struct_coll) (class C.int) {
	defer recoveredColl(&class, call)
	begun()
	t := anyType(number(call.out._type))
	o, err := operation(uintptr(unsafe.Pointer(call.op)), call.out._type)
	if err != nil {
		return classOf(err)
	}
	return classOf(reduceLocal(o, t, &call.in, &call.out))
}

// reduceLocal sets out to in op out.
func reduceLocal(o *op.Op, t *dtype.Type, in, out *C.struct_side) error {
	switch {
	case t == nil || !t.Committed():
		return fmt.Errorf("%w: no datatype to reduce", errs.Type)
	case out.n < 0:
		return fmt.Errorf("%w: %d elements", errs.Count, int64(out.n))
	case out.n == 0:
		return nil
	case in.mem == nil, out.mem == nil, in.mem == out.mem, uintptr(in.mem) == C.in_place, uintptr(out.mem) == C.in_place:
		return fmt.Errorf("%w: the two buffers of a local reduction are memory, and apart", errs.Buffer)
	}
	f, err := o.For(t)
	if err != nil {
		return err
	}
	return f.Combine(out.mem, in.mem, out.mem, int64(out.n))
}
