//go:build linux

package main

/*
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/internal/mpi/core"
	"github.com/golci/golci/internal/mpi/pure/dtype"
	"github.com/golci/golci/internal/mpi/pure/errs"
	"github.com/golci/golci/internal/mpi/pure/op"
)

// kinds of collectives, by the numbers of calls.h, with the functions that choose their schedules.
var kinds = [...]struct {
	name   string
	choose func(x *core.Call, call *C.struct_call) error
}{
	C.kind_barrier: {"Barrier", func(x *core.Call, _ *C.struct_call) error { return x.Barrier(0) }},
	C.kind_bcast:   {"Bcast", func(x *core.Call, call *C.struct_call) error { return x.Bcast(int(call.root)) }},
	C.kind_reduce: {"Reduce", func(x *core.Call, call *C.struct_call) error {
		return reduce(x, call, x.Reduce)
	}},
	C.kind_allreduce: {"Allreduce", func(x *core.Call, call *C.struct_call) error {
		return reduce(x, call, x.Allreduce)
	}},
	C.kind_gather: {"Gather", func(x *core.Call, call *C.struct_call) error { return x.Gather(int(call.root)) }},
	C.kind_gatherv: {"Gatherv", func(x *core.Call, call *C.struct_call) error {
		counts, displs := parts(call, &call.out_parts)
		return x.Gatherv(counts, displs, int(call.root))
	}},
	C.kind_scatter: {"Scatter", func(x *core.Call, call *C.struct_call) error { return x.Scatter(int(call.root)) }},
	C.kind_scatterv: {"Scatterv", func(x *core.Call, call *C.struct_call) error {
		counts, displs := parts(call, &call.in_parts)
		return x.Scatterv(counts, displs, int(call.root))
	}},
	C.kind_allgather: {"Allgather", func(x *core.Call, _ *C.struct_call) error { return x.Allgather(0) }},
	C.kind_allgatherv: {"Allgatherv", func(x *core.Call, call *C.struct_call) error {
		counts, displs := parts(call, &call.out_parts)
		return x.Allgatherv(counts, displs)
	}},
	C.kind_alltoall: {"Alltoall", func(x *core.Call, _ *C.struct_call) error { return x.Alltoall(0) }},
	C.kind_alltoallv: {"Alltoallv", func(x *core.Call, call *C.struct_call) error {
		scounts, sdispls := parts(call, &call.in_parts)
		rcounts, rdispls := parts(call, &call.out_parts)
		return x.Alltoallv(scounts, sdispls, rcounts, rdispls)
	}},
}

//export golciCollective
func golciCollective(call *C.struct_call) (class C.int) {
	defer recovered(&class)
	k := &kinds[call.kind]
	x, err := at(call.comm).Begin(k.name, elem(call.datatype))
	if err != nil {
		return classOf(err)
	}
	in, ins, out, outs := unsafe.Pointer(call.in), int(call.ins), unsafe.Pointer(call.out), int(call.outs)
	switch {
	case call.in_place == 0:
	case call.kind == C.kind_scatter || call.kind == C.kind_scatterv:
		out, outs = core.InPlace(), 0
	default:
		in, ins = core.InPlace(), 0
	}
	x.Buffers(in, ins, out, outs, int(call.size))
	if err := x.Finish(k.choose(x, call)); err != nil {
		return classOf(err)
	}
	return C.MPI_SUCCESS
}

// parts are the counts and displacements of a buffer; nil where the call has none.
func parts(call *C.struct_call, p *C.struct_parts) (counts, displs []int) {
	n := at(call.comm).Size()
	return numbers(p.counts, n, call.wide != 0), numbers(p.displs, n, call.wide != 0)
}

// numbers are n numbers of C.
func numbers(mem unsafe.Pointer, n int, wide bool) []int {
	if mem == nil {
		return nil
	}
	all := make([]int, n)
	if wide {
		copy(all, unsafe.Slice((*int)(mem), n))
		return all
	}
	for i, v := range unsafe.Slice((*int32)(mem), n) {
		all[i] = int(v)
	}
	return all
}

// combiner is an operation on a predefined datatype.
type combiner struct {
	op.Combiner
	size int // from one element to the next
}

// Into implements core.Combiner.
func (c *combiner) Into(out, low, high []byte) {
	if len(out) > 0 { // an operation that is predefined does not fail
		_ = c.Combine(unsafe.Pointer(&out[0]), unsafe.Pointer(&low[0]), unsafe.Pointer(&high[0]), int64(len(out)/c.size))
	}
}

// operations are all numbers of predefined operations, and more.
const operations = 0x40

// combiners are those that were asked for, by operation and datatype. They do not change.
var combiners [operations][datatypes]atomic.Pointer[combiner]

// reduce gives x its operation and chooses its schedule.
func reduce(x *core.Call, call *C.struct_call, choose func(root int) error) error {
	if call.op < 0 || call.op >= operations {
		return fmt.Errorf("%w: no predefined one", errs.Op)
	}
	slot := &combiners[call.op][call.datatype-firstDatatype]
	c := slot.Load()
	if c == nil {
		f, err := op.Predefined(op.ID(call.op)).For(dtype.Named(dtype.Basic(call.datatype)))
		if err != nil {
			return err
		}
		c = &combiner{f, int(call.size)}
		slot.Store(c) // two at once make the same
	}
	x.Operate(core.Operator{Combiner: c, Commutes: true})
	return choose(int(call.root))
}
