package mpi

import (
	"github.com/golci/golci/mpi/internal/coll/argument"
)

// Allgather is Gather whose result all ranks get (6.7). recv must have room for size times len(send) elements. send
// may be InPlace: the own part then lies in its place in recv, which must be exactly as long as all parts. It waits,
// and may switch threads. Errors: ErrType, ErrCount, ErrTruncate, ErrBuffer, and those of Barrier.
func Allgather[T any](c *Comm, send, recv []T) error {
	var k argument.Description
	return c.core().Do(sliceCall(&k, argument.KindAllgather, "Allgather", send, recv, 0))
}

// Allgatherv is Allgather for parts of different lengths: that of rank i has counts[i] elements, the same on all
// ranks, and goes to recv[displs[i]:] (6.7). nil displs puts the parts one behind the other. send may be InPlace.
// Errors as for Allgather.
func Allgatherv[T any](c *Comm, send, recv []T, counts, displs []int) error {
	var k argument.Description
	setParts(sliceCall(&k, argument.KindAllgatherv, "Allgatherv", send, recv, 0), nil, nil, counts, displs)
	return c.core().Do(&k)
}

// Alltoall sends part j of send to rank j, where it becomes part i of recv, i being the sender (6.8). send and recv
// are size equal parts each, and must not overlap. send may be InPlace: recv then holds what is sent, and what comes
// replaces it; a copy of recv is made. It waits, and may switch threads. Errors: ErrType, ErrCount, ErrTruncate,
// ErrBuffer, and those of Barrier.
func Alltoall[T any](c *Comm, send, recv []T) error {
	var k argument.Description
	return c.core().Do(sliceCall(&k, argument.KindAlltoall, "Alltoall", send, recv, 0))
}

// Alltoallv is Alltoall for parts of different lengths: what goes to rank j is scounts[j] elements from
// send[sdispls[j]:], and what comes from rank i is rcounts[i] elements, into recv[rdispls[i]:] (6.8). nil
// displacements have the parts one behind the other. send may be InPlace: scounts and sdispls are then not used, and
// what goes to rank j is as long as what comes from it. Errors as for Alltoall.
func Alltoallv[T any](c *Comm, send []T, scounts, sdispls []int, recv []T, rcounts, rdispls []int) error {
	var k argument.Description
	setParts(sliceCall(&k, argument.KindAlltoallv, "Alltoallv", send, recv, 0), scounts, sdispls, rcounts, rdispls)
	return c.core().Do(&k)
}
