package mpi

import (
	"github.com/golci/golci/mpi/internal/coll/argument"
)

// Persistent collectives (6.13). All ranks of the communicator make them in the same order. Each start, by
// Request.Start or StartAll, is a collective that does not wait. Starts may come in any order: a request has a message
// space of its own. To make it takes a Dup, so these functions wait, and may switch threads; errors are those of Dup.
// Errors of the arguments come with the start, as for the form that does not wait. The slices belong to the request
// until it is freed.

// BarrierInit makes a persistent request for a Barrier (6.13.1).
func (c *Comm) BarrierInit() (Request, error) {
	var k argument.Description
	return initColl(c, sliceCall[byte](&k, argument.KindBarrier, "BarrierInit", nil, nil, 0))
}

// BcastInit makes a persistent request for a Bcast (6.13.2).
func BcastInit[T any](c *Comm, buf []T, root int) (Request, error) {
	var k argument.Description
	return initColl(c, sliceCall(&k, argument.KindBcast, "BcastInit", nil, buf, root))
}

// GatherInit makes a persistent request for a Gather (6.13.3).
func GatherInit[T any](c *Comm, send, recv []T, root int) (Request, error) {
	var k argument.Description
	return initColl(c, sliceCall(&k, argument.KindGather, "GatherInit", send, recv, root))
}

// GathervInit makes a persistent request for a Gatherv (6.13.3).
func GathervInit[T any](c *Comm, send, recv []T, counts, displs []int, root int) (Request, error) {
	var k argument.Description
	setParts(sliceCall(&k, argument.KindGatherv, "GathervInit", send, recv, root), nil, nil, counts, displs)
	return initColl(c, &k)
}

// ScatterInit makes a persistent request for a Scatter (6.13.4).
func ScatterInit[T any](c *Comm, send, recv []T, root int) (Request, error) {
	var k argument.Description
	return initColl(c, sliceCall(&k, argument.KindScatter, "ScatterInit", send, recv, root))
}

// ScattervInit makes a persistent request for a Scatterv (6.13.4).
func ScattervInit[T any](c *Comm, send []T, counts, displs []int, recv []T, root int) (Request, error) {
	var k argument.Description
	setParts(sliceCall(&k, argument.KindScatterv, "ScattervInit", send, recv, root), counts, displs, nil, nil)
	return initColl(c, &k)
}

// AllgatherInit makes a persistent request for an Allgather (6.13.5).
func AllgatherInit[T any](c *Comm, send, recv []T) (Request, error) {
	var k argument.Description
	return initColl(c, sliceCall(&k, argument.KindAllgather, "AllgatherInit", send, recv, 0))
}

// AllgathervInit makes a persistent request for an Allgatherv (6.13.5).
func AllgathervInit[T any](c *Comm, send, recv []T, counts, displs []int) (Request, error) {
	var k argument.Description
	setParts(sliceCall(&k, argument.KindAllgatherv, "AllgathervInit", send, recv, 0), nil, nil, counts, displs)
	return initColl(c, &k)
}

// AlltoallInit makes a persistent request for an Alltoall (6.13.6).
func AlltoallInit[T any](c *Comm, send, recv []T) (Request, error) {
	var k argument.Description
	return initColl(c, sliceCall(&k, argument.KindAlltoall, "AlltoallInit", send, recv, 0))
}

// AlltoallvInit makes a persistent request for an Alltoallv (6.13.6).
func AlltoallvInit[T any](
	c *Comm, send []T, scounts, sdispls []int, recv []T, rcounts, rdispls []int,
) (Request, error) {
	var k argument.Description
	sliceCall(&k, argument.KindAlltoallv, "AlltoallvInit", send, recv, 0)
	setParts(&k, scounts, sdispls, rcounts, rdispls)
	return initColl(c, &k)
}

// ReduceInit makes a persistent request for a Reduce (6.13.7).
func ReduceInit[T any](c *Comm, send, recv []T, op Op[T], root int) (Request, error) {
	var k argument.Description
	return initColl(c, reduction(&k, argument.KindReduce, "ReduceInit", send, recv, op, root))
}

// AllreduceInit makes a persistent request for an Allreduce (6.13.8).
func AllreduceInit[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	var k argument.Description
	return initColl(c, reduction(&k, argument.KindAllreduce, "AllreduceInit", send, recv, op, 0))
}

// ReduceScatterBlockInit makes a persistent request for a ReduceScatterBlock (6.13.9).
func ReduceScatterBlockInit[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	var k argument.Description
	return initColl(c, reduction(&k, argument.KindReduceScatterBlock, "ReduceScatterBlockInit", send, recv, op, 0))
}

// ReduceScatterInit makes a persistent request for a ReduceScatter (6.13.10).
func ReduceScatterInit[T any](c *Comm, send, recv []T, counts []int, op Op[T]) (Request, error) {
	var k argument.Description
	reduction(&k, argument.KindReduceScatter, "ReduceScatterInit", send, recv, op, 0)
	setParts(&k, nil, nil, counts, nil)
	return initColl(c, &k)
}

// ScanInit makes a persistent request for a Scan (6.13.11).
func ScanInit[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	var k argument.Description
	return initColl(c, reduction(&k, argument.KindScan, "ScanInit", send, recv, op, 0))
}

// ExscanInit makes a persistent request for an Exscan (6.13.12).
func ExscanInit[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	var k argument.Description
	return initColl(c, reduction(&k, argument.KindExscan, "ExscanInit", send, recv, op, 0))
}

// AlltoallwInit makes a persistent request for an Alltoallw (6.13.6). Errors of the arguments come with this call.
func AlltoallwInit(c *Comm, send, recv []Part) (Request, error) {
	k, err := allCollw(c, "AlltoallwInit", send, recv)
	if err != nil {
		return Request{}, err
	}
	return initColl(c, k)
}
