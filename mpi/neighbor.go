package mpi

import (
	"fmt"

	"github.com/golci/golci/mpi/internal/coll/argument"
)

// Neighbourhood collectives (8.6) need a communicator with a topology. A rank sends to its neighbours and receives from
// them: see Comm.Neighbors. All ranks of the communicator call them, but a rank waits for its neighbours only.
//
// The order of neighbours, and so of parts: in a grid for each dimension, from the first on, the one before and then
// the one behind. In a graph it is that of the lists that the program gave. A neighbour ProcNull, beyond an end of a
// grid that does not go round, keeps its place in the order and in the buffers. Its part is not sent, and stays as it
// is.

// NeighborAllgather sends all of send to each neighbour (8.6.1, MPI_Neighbor_allgather). recv has an equal part for
// each neighbour that data comes from, in their order: in a grid for each dimension that of the one before and that of
// the one behind. The part of a ProcNull stays as it is. It waits, and may switch threads. Errors: ErrTopology,
// ErrCount
// where recv has no equal parts, those of arguments, and those of communication.
func NeighborAllgather[T any](c *Comm, send, recv []T) error {
	var k argument.Description
	return c.core().Do(sliceCall(&k, argument.KindNeighborAllgather, "NeighborAllgather", send, recv, 0))
}

// IneighborAllgather is NeighborAllgather that does not wait (8.7.1).
func IneighborAllgather[T any](c *Comm, send, recv []T) (Request, error) {
	var k argument.Description
	return startColl(c, sliceCall(&k, argument.KindNeighborAllgather, "IneighborAllgather", send, recv, 0))
}

// NeighborAllgatherInit makes a persistent request for a NeighborAllgather (8.8.1). It does not wait: Start begins one.
func NeighborAllgatherInit[T any](c *Comm, send, recv []T) (Request, error) {
	var k argument.Description
	return initColl(c, sliceCall(&k, argument.KindNeighborAllgather, "NeighborAllgatherInit", send, recv, 0))
}

// NeighborAllgatherv is NeighborAllgather with parts of different lengths (8.6.1, MPI_Neighbor_allgatherv): counts[i]
// elements from the i-th neighbour come to recv[displs[i]:]. A nil displs means one part behind the other.
func NeighborAllgatherv[T any](c *Comm, send, recv []T, counts, displs []int) error {
	var k argument.Description
	sliceCall(&k, argument.KindNeighborAllgatherv, "NeighborAllgatherv", send, recv, 0)
	setParts(&k, nil, nil, counts, displs)
	return c.core().Do(&k)
}

// IneighborAllgatherv is NeighborAllgatherv that does not wait (8.7.1). counts and displs are not used after it.
func IneighborAllgatherv[T any](c *Comm, send, recv []T, counts, displs []int) (Request, error) {
	var k argument.Description
	sliceCall(&k, argument.KindNeighborAllgatherv, "IneighborAllgatherv", send, recv, 0)
	setParts(&k, nil, nil, counts, displs)
	return startColl(c, &k)
}

// NeighborAllgathervInit makes a persistent request for a NeighborAllgatherv (8.8.1). counts and displs are not used
// after it.
func NeighborAllgathervInit[T any](c *Comm, send, recv []T, counts, displs []int) (Request, error) {
	var k argument.Description
	sliceCall(&k, argument.KindNeighborAllgatherv, "NeighborAllgathervInit", send, recv, 0)
	setParts(&k, nil, nil, counts, displs)
	return initColl(c, &k)
}

// NeighborAlltoall sends the i-th of the equal parts of send to the i-th neighbour (8.6.2, MPI_Neighbor_alltoall). The
// order, recv and the errors are as in NeighborAllgather.
func NeighborAlltoall[T any](c *Comm, send, recv []T) error {
	var k argument.Description
	return c.core().Do(sliceCall(&k, argument.KindNeighborAlltoall, "NeighborAlltoall", send, recv, 0))
}

// IneighborAlltoall is NeighborAlltoall that does not wait (8.7.2).
func IneighborAlltoall[T any](c *Comm, send, recv []T) (Request, error) {
	var k argument.Description
	return startColl(c, sliceCall(&k, argument.KindNeighborAlltoall, "IneighborAlltoall", send, recv, 0))
}

// NeighborAlltoallInit makes a persistent request for a NeighborAlltoall (8.8.2).
func NeighborAlltoallInit[T any](c *Comm, send, recv []T) (Request, error) {
	var k argument.Description
	return initColl(c, sliceCall(&k, argument.KindNeighborAlltoall, "NeighborAlltoallInit", send, recv, 0))
}

// NeighborAlltoallv is NeighborAlltoall with parts of different lengths (8.6.2, MPI_Neighbor_alltoallv). A nil list of
// displacements means one part behind the other.
func NeighborAlltoallv[T any](c *Comm, send []T, scounts, sdispls []int, recv []T, rcounts, rdispls []int) error {
	var k argument.Description
	sliceCall(&k, argument.KindNeighborAlltoallv, "NeighborAlltoallv", send, recv, 0)
	setParts(&k, scounts, sdispls, rcounts, rdispls)
	return c.core().Do(&k)
}

// IneighborAlltoallv is NeighborAlltoallv that does not wait (8.7.2). Counts and displacements are not used after it.
func IneighborAlltoallv[T any](
	c *Comm, send []T, scounts, sdispls []int, recv []T, rcounts, rdispls []int,
) (Request, error) {
	var k argument.Description
	sliceCall(&k, argument.KindNeighborAlltoallv, "IneighborAlltoallv", send, recv, 0)
	setParts(&k, scounts, sdispls, rcounts, rdispls)
	return startColl(c, &k)
}

// NeighborAlltoallvInit makes a persistent request for a NeighborAlltoallv (8.8.2). Counts and displacements are not
// used after it.
func NeighborAlltoallvInit[T any](
	c *Comm, send []T, scounts, sdispls []int, recv []T, rcounts, rdispls []int,
) (Request, error) {
	var k argument.Description
	sliceCall(&k, argument.KindNeighborAlltoallv, "NeighborAlltoallvInit", send, recv, 0)
	setParts(&k, scounts, sdispls, rcounts, rdispls)
	return initColl(c, &k)
}

// NeighborAlltoallw is NeighborAlltoallv with parts of different types (8.6.2, MPI_Neighbor_alltoallw): send[i] goes to
// the i-th neighbour, recv[i] comes from the i-th, in the order of NeighborAllgather. So in a grid of two dimensions
// they are the parts for above, below, left and right. The memory of a part of a ProcNull stays as it is.
func NeighborAlltoallw(c *Comm, send, recv []Part) error {
	k, err := nearCollw(c, "NeighborAlltoallw", send, recv)
	if err != nil {
		return err
	}
	return c.core().Do(k)
}

// IneighborAlltoallw is NeighborAlltoallw that does not wait (8.7.2).
func IneighborAlltoallw(c *Comm, send, recv []Part) (Request, error) {
	k, err := nearCollw(c, "IneighborAlltoallw", send, recv)
	if err != nil {
		return Request{}, err
	}
	return startColl(c, k)
}

// NeighborAlltoallwInit makes a persistent request for a NeighborAlltoallw (8.8.2).
func NeighborAlltoallwInit(c *Comm, send, recv []Part) (Request, error) {
	k, err := nearCollw(c, "NeighborAlltoallwInit", send, recv)
	if err != nil {
		return Request{}, err
	}
	return initColl(c, k)
}

// nearCollw is a collective with parts of different types.
func nearCollw(c *Comm, what string, send, recv []Part) (*argument.Description, error) {
	ins, outs, err := nearOf(c, what)
	k := &argument.Description{Kind: argument.KindNeighborAlltoallw, What: what}
	if err == nil {
		k.In, err = sideOf("send", send, outs)
	}
	if err == nil {
		k.Out, err = sideOf("receive", recv, ins)
	}
	if err != nil {
		return nil, fmt.Errorf("mpi: %s: %w", what, err)
	}
	return k, nil
}

// nearOf tells how many neighbours there are on both sides.
func nearOf(c *Comm, what string) (ins, outs int, err error) {
	from, to, err := c.Neighbors()
	if err != nil {
		err = fmt.Errorf("mpi: %s: %w", what, err)
	}
	return len(from), len(to), err
}
