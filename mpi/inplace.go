package mpi

import (
	"unsafe"

	"github.com/golci/golci/mpi/internal/coll/argument"
)

// InPlace stands for one of the two buffers of a collective: what the rank contributes, or gets, lies in the other one
// (MPI_IN_PLACE). buf tells the element type only; give the other buffer.
//
//	err := mpi.Allreduce(c, mpi.InPlace(buf), buf, mpi.Sum)
//
// On all ranks it may be the send buffer of Allreduce, Allgather, Allgatherv, Alltoall, Alltoallv, ReduceScatter,
// ReduceScatterBlock, Scan and Exscan. At root it may be the send buffer of Reduce, Gather and Gatherv, and the receive
// buffer of Scatter and Scatterv. Elsewhere a collective returns ErrBuffer. The result has no elements, and cannot be
// sliced.
func InPlace[T any](buf []T) []T {
	buf = nil
	*(*unsafe.Pointer)(unsafe.Pointer(&buf)) = argument.InPlace() // the first word of a slice
	return buf
}
