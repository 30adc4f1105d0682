package mpi

import (
	"fmt"
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/signature"
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
	k, err := nearColl(c, "NeighborAllgather", core.KindNeighborAllgather, send, recv)
	return doColl(c, k, err)
}

// IneighborAllgather is NeighborAllgather that does not wait (8.7.1).
func IneighborAllgather[T any](c *Comm, send, recv []T) (Request, error) {
	k, err := nearColl(c, "IneighborAllgather", core.KindNeighborAllgather, send, recv)
	return startColl(c, k, err)
}

// NeighborAllgatherInit makes a persistent request for a NeighborAllgather (8.8.1). It does not wait: Start begins one.
func NeighborAllgatherInit[T any](c *Comm, send, recv []T) (Request, error) {
	k, err := nearColl(c, "NeighborAllgatherInit", core.KindNeighborAllgather, send, recv)
	return initColl(c, k, err)
}

// NeighborAllgatherv is NeighborAllgather with parts of different lengths (8.6.1, MPI_Neighbor_allgatherv): counts[i]
// elements from the i-th neighbour come to recv[displs[i]:]. A nil displs means one part behind the other.
func NeighborAllgatherv[T any](c *Comm, send, recv []T, counts, displs []int) error {
	k, err := nearCollv(c, "NeighborAllgatherv", core.KindNeighborAllgatherv, send, nil, nil, recv, counts, displs)
	return doColl(c, k, err)
}

// IneighborAllgatherv is NeighborAllgatherv that does not wait (8.7.1). counts and displs are not used after it.
func IneighborAllgatherv[T any](c *Comm, send, recv []T, counts, displs []int) (Request, error) {
	k, err := nearCollv(c, "IneighborAllgatherv", core.KindNeighborAllgatherv, send, nil, nil, recv, counts, displs)
	return startColl(c, k, err)
}

// NeighborAllgathervInit makes a persistent request for a NeighborAllgatherv (8.8.1). counts and displs are not used
// after it.
func NeighborAllgathervInit[T any](c *Comm, send, recv []T, counts, displs []int) (Request, error) {
	k, err := nearCollv(c, "NeighborAllgathervInit", core.KindNeighborAllgatherv, send, nil, nil, recv, counts, displs)
	return initColl(c, k, err)
}

// NeighborAlltoall sends the i-th of the equal parts of send to the i-th neighbour (8.6.2, MPI_Neighbor_alltoall). The
// order, recv and the errors are as in NeighborAllgather.
func NeighborAlltoall[T any](c *Comm, send, recv []T) error {
	k, err := nearColl(c, "NeighborAlltoall", core.KindNeighborAlltoall, send, recv)
	return doColl(c, k, err)
}

// IneighborAlltoall is NeighborAlltoall that does not wait (8.7.2).
func IneighborAlltoall[T any](c *Comm, send, recv []T) (Request, error) {
	k, err := nearColl(c, "IneighborAlltoall", core.KindNeighborAlltoall, send, recv)
	return startColl(c, k, err)
}

// NeighborAlltoallInit makes a persistent request for a NeighborAlltoall (8.8.2).
func NeighborAlltoallInit[T any](c *Comm, send, recv []T) (Request, error) {
	k, err := nearColl(c, "NeighborAlltoallInit", core.KindNeighborAlltoall, send, recv)
	return initColl(c, k, err)
}

// NeighborAlltoallv is NeighborAlltoall with parts of different lengths (8.6.2, MPI_Neighbor_alltoallv). A nil list of
// displacements means one part behind the other.
func NeighborAlltoallv[T any](c *Comm, send []T, scounts, sdispls []int, recv []T, rcounts, rdispls []int) error {
	k, err := nearCollv(c, "NeighborAlltoallv", core.KindNeighborAlltoallv, send, scounts, sdispls, recv, rcounts, rdispls)
	return doColl(c, k, err)
}

// IneighborAlltoallv is NeighborAlltoallv that does not wait (8.7.2). Counts and displacements are not used after it.
func IneighborAlltoallv[T any](
	c *Comm, send []T, scounts, sdispls []int, recv []T, rcounts, rdispls []int,
) (Request, error) {
	k, err := nearCollv(c, "IneighborAlltoallv", core.KindNeighborAlltoallv, send, scounts, sdispls, recv, rcounts,
		rdispls)
	return startColl(c, k, err)
}

// NeighborAlltoallvInit makes a persistent request for a NeighborAlltoallv (8.8.2). Counts and displacements are not
// used after it.
func NeighborAlltoallvInit[T any](
	c *Comm, send []T, scounts, sdispls []int, recv []T, rcounts, rdispls []int,
) (Request, error) {
	k, err := nearCollv(c, "NeighborAlltoallvInit", core.KindNeighborAlltoallv, send, scounts, sdispls, recv, rcounts,
		rdispls)
	return initColl(c, k, err)
}

// NeighborAlltoallw is NeighborAlltoallv with parts of different types (8.6.2, MPI_Neighbor_alltoallw): send[i] goes to
// the i-th neighbour, recv[i] comes from the i-th, in the order of NeighborAllgather. So in a grid of two dimensions
// they are the parts for above, below, left and right. The memory of a part of a ProcNull stays as it is.
func NeighborAlltoallw(c *Comm, send, recv []Part) error {
	k, err := nearCollw(c, "NeighborAlltoallw", send, recv)
	return doColl(c, k, err)
}

// IneighborAlltoallw is NeighborAlltoallw that does not wait (8.7.2).
func IneighborAlltoallw(c *Comm, send, recv []Part) (Request, error) {
	k, err := nearCollw(c, "IneighborAlltoallw", send, recv)
	return startColl(c, k, err)
}

// NeighborAlltoallwInit makes a persistent request for a NeighborAlltoallw (8.8.2).
func NeighborAlltoallwInit(c *Comm, send, recv []Part) (Request, error) {
	k, err := nearCollw(c, "NeighborAlltoallwInit", send, recv)
	return initColl(c, k, err)
}

func doColl(c *Comm, k *core.Coll, err error) error {
	if err != nil {
		return err
	}
	return c.core().Do(k)
}

func startColl(c *Comm, k *core.Coll, err error) (Request, error) {
	if err != nil {
		return Request{}, err
	}
	r, err := c.core().Start(k)
	return Request(r), err
}

func initColl(c *Comm, k *core.Coll, err error) (Request, error) {
	if err != nil {
		return Request{}, err
	}
	r, err := c.core().CollInit(k)
	return Request(r), err
}

// nearOf begins a collective of a neighbourhood: how many neighbours there are on both sides.
func nearOf(c *Comm, what string, e *signature.Elem) (ins, outs int, err error) {
	if err = e.Err(); err == nil {
		var from, to []int
		from, to, err = c.Neighbors()
		ins, outs = len(from), len(to)
	}
	if err != nil {
		err = fmt.Errorf("mpi: %s: %w", what, err)
	}
	return ins, outs, err
}

// side is a buffer as bytes.
func side[T any](buf []T) core.Side {
	return core.Side{
		Mem: unsafe.Pointer(unsafe.SliceData(buf)), N: int64(len(buf) * sizeOf[T]()), T: dtype.Named(dtype.Byte),
	}
}

// nearColl is a collective with equal parts.
func nearColl[T any](c *Comm, what string, kind core.Kind, send, recv []T) (*core.Coll, error) {
	ins, outs, err := nearOf(c, what, elemOf[T]())
	if err != nil {
		return nil, err
	}
	k := &core.Coll{Kind: kind, What: what, In: side(send), Out: side(recv)}
	if kind == core.KindNeighborAlltoall {
		err = equal(&k.In, len(send), outs)
	}
	if err == nil {
		err = equal(&k.Out, len(recv), ins)
	}
	if err != nil {
		return nil, fmt.Errorf("mpi: %s: %w", what, err)
	}
	return k, nil
}

// equal has s be n equal parts.
func equal(s *core.Side, elements, n int) error {
	if n > 0 && elements%n != 0 {
		return fmt.Errorf("%w: %d elements are no whole number for each of %d neighbours", ErrCount, elements, n)
	}
	s.N /= int64(max(n, 1))
	return nil
}

// nearCollv is a collective with parts of different lengths.
func nearCollv[T any](
	c *Comm, what string, kind core.Kind, send []T, scounts, sdispls []int, recv []T, rcounts, rdispls []int,
) (*core.Coll, error) {
	ins, outs, err := nearOf(c, what, elemOf[T]())
	if err != nil {
		return nil, err
	}
	k := &core.Coll{Kind: kind, What: what, In: side(send), Out: side(recv)}
	if kind == core.KindNeighborAlltoallv {
		k.In.Parts, err = partsOf("send", sizeOf[T](), len(send), outs, scounts, sdispls)
	}
	if err == nil {
		k.Out.Parts, err = partsOf("receive", sizeOf[T](), len(recv), ins, rcounts, rdispls)
	}
	if err != nil {
		return nil, fmt.Errorf("mpi: %s: %w", what, err)
	}
	return k, nil
}

// partsOf are n parts of a buffer, in bytes.
func partsOf(name string, size, elements, n int, counts, displs []int) (p core.Parts, err error) {
	if len(counts) != n || displs != nil && len(displs) != n {
		return p, fmt.Errorf("%w: %d counts and %d displacements of the %s buffer for %d neighbours", ErrCount,
			len(counts), len(displs), name, n)
	}
	p.Counts, p.Displs = make([]int64, n), make([]int64, n)
	next := 0
	for i, count := range counts {
		at := next
		if displs != nil {
			at = displs[i]
		}
		if count < 0 || at < 0 || at > elements || count > elements-at {
			return p, fmt.Errorf("%w: part %d of the %s buffer has %d elements at %d, the buffer %d", ErrCount, i, name,
				count, at, elements)
		}
		p.Counts[i], p.Displs[i] = int64(count*size), int64(at*size)
		next = at + count
	}
	return p, nil
}

// nearCollw is a collective with parts of different types.
func nearCollw(c *Comm, what string, send, recv []Part) (*core.Coll, error) {
	ins, outs, err := nearOf(c, what, elemOf[byte]())
	k := &core.Coll{Kind: core.KindNeighborAlltoallw, What: what}
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
