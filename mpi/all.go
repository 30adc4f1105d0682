package mpi

import "github.com/golci/golci/mpi/internal/core"

// Allgather is Gather whose result all ranks get (6.7). recv must have room for size times len(send) elements. send
// may be InPlace: the own part then lies in its place in recv, which must be exactly as long as all parts. It waits,
// and may switch threads. Errors: ErrType, ErrCount, ErrTruncate, ErrBuffer, and those of Barrier.
func Allgather[T any](c *Comm, send, recv []T) error {
	if c.Inter() {
		return interCall[T]{
			what: "Allgather", kind: core.KindAllgather,
			in: send, out: recv,
		}.doCall(c)
	}
	return blocking(c, "Allgather", send, recv, 0, (*core.Call).Allgather)
}

// Allgatherv is Allgather for parts of different lengths: that of rank i has counts[i] elements, the same on all
// ranks, and goes to recv[displs[i]:] (6.7). nil displs puts the parts one behind the other. send may be InPlace.
// Errors as for Allgather.
func Allgatherv[T any](c *Comm, send, recv []T, counts, displs []int) error {
	if c.Inter() {
		return interCall[T]{
			what: "Allgatherv", kind: core.KindAllgatherv,
			in: send, out: recv, rcounts: counts, rdispls: displs,
		}.doCall(c)
	}
	return blocking(c, "Allgatherv", send, recv, 0, func(x *core.Call, _ int) error {
		return x.Allgatherv(counts, displs)
	})
}

// Alltoall sends part j of send to rank j, where it becomes part i of recv, i being the sender (6.8). send and recv
// are size equal parts each, and must not overlap. send may be InPlace: recv then holds what is sent, and what comes
// replaces it; a copy of recv is made. It waits, and may switch threads. Errors: ErrType, ErrCount, ErrTruncate,
// ErrBuffer, and those of Barrier.
func Alltoall[T any](c *Comm, send, recv []T) error {
	if c.Inter() {
		return interCall[T]{
			what: "Alltoall", kind: core.KindAlltoall,
			in: send, out: recv,
		}.doCall(c)
	}
	return blocking(c, "Alltoall", send, recv, 0, (*core.Call).Alltoall)
}

// Alltoallv is Alltoall for parts of different lengths: what goes to rank j is scounts[j] elements from
// send[sdispls[j]:], and what comes from rank i is rcounts[i] elements, into recv[rdispls[i]:] (6.8). nil
// displacements have the parts one behind the other. send may be InPlace: scounts and sdispls are then not used, and
// what goes to rank j is as long as what comes from it. Errors as for Alltoall.
func Alltoallv[T any](c *Comm, send []T, scounts, sdispls []int, recv []T, rcounts, rdispls []int) error {
	if c.Inter() {
		return interCall[T]{
			what: "Alltoallv", kind: core.KindAlltoallv,
			in: send, out: recv, counts: scounts, displs: sdispls, rcounts: rcounts, rdispls: rdispls,
		}.doCall(c)
	}
	return blocking(c, "Alltoallv", send, recv, 0, func(x *core.Call, _ int) error {
		return x.Alltoallv(scounts, sdispls, rcounts, rdispls)
	})
}
