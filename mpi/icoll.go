package mpi

import (
	"github.com/golci/golci/mpi/internal/coll/argument"
)

// Collectives that do not wait (6.12). The package comment has the rules for buffers and errors. All ranks must start
// the collectives of a communicator in the same order, those that wait and those that do not. The two forms of one
// operation are different kinds. What is under way moves while a thread of the rank waits, polls or is idle. A call
// under way has no thread or goroutine of its own.

// Ibarrier is Barrier that does not wait (6.12.1): the request is done when all ranks have started it. It does not
// block. Errors as for Barrier.
func (c *Comm) Ibarrier() (Request, error) {
	r, err := c.core().Ibarrier()
	return Request(r), err
}

// Ibcast is Bcast that does not wait (6.12.2). It does not block. Errors as for Bcast.
func Ibcast[T any](c *Comm, buf []T, root int) (Request, error) {
	var k argument.Description
	return startColl(c, sliceCall(&k, argument.KindBcast, "Ibcast", nil, buf, root))
}

// Igather is Gather that does not wait (6.12.3). It does not block. Errors as for Gather.
func Igather[T any](c *Comm, send, recv []T, root int) (Request, error) {
	var k argument.Description
	return startColl(c, sliceCall(&k, argument.KindGather, "Igather", send, recv, root))
}

// Iscatter is Scatter that does not wait (6.12.4). It does not block. Errors as for Scatter.
func Iscatter[T any](c *Comm, send, recv []T, root int) (Request, error) {
	var k argument.Description
	return startColl(c, sliceCall(&k, argument.KindScatter, "Iscatter", send, recv, root))
}

// Igatherv is Gatherv that does not wait (6.12.3). counts and displs are not used after it. It does not block. Errors
// as for Gatherv.
func Igatherv[T any](c *Comm, send, recv []T, counts, displs []int, root int) (Request, error) {
	var k argument.Description
	setParts(sliceCall(&k, argument.KindGatherv, "Igatherv", send, recv, root), nil, nil, counts, displs)
	return startColl(c, &k)
}

// Iscatterv is Scatterv that does not wait (6.12.4). counts and displs are not used after it. It does not block. Errors
// as for Scatterv.
func Iscatterv[T any](c *Comm, send []T, counts, displs []int, recv []T, root int) (Request, error) {
	var k argument.Description
	setParts(sliceCall(&k, argument.KindScatterv, "Iscatterv", send, recv, root), counts, displs, nil, nil)
	return startColl(c, &k)
}

// Iallgather is Allgather that does not wait (6.12.5). It does not block. Errors as for Allgather.
func Iallgather[T any](c *Comm, send, recv []T) (Request, error) {
	var k argument.Description
	return startColl(c, sliceCall(&k, argument.KindAllgather, "Iallgather", send, recv, 0))
}

// Iallgatherv is Allgatherv that does not wait (6.12.5). counts and displs are not used after it. It does not block.
// Errors as for Allgatherv.
func Iallgatherv[T any](c *Comm, send, recv []T, counts, displs []int) (Request, error) {
	var k argument.Description
	setParts(sliceCall(&k, argument.KindAllgatherv, "Iallgatherv", send, recv, 0), nil, nil, counts, displs)
	return startColl(c, &k)
}

// Ialltoall is Alltoall that does not wait (6.12.6). It does not block. Errors as for Alltoall.
func Ialltoall[T any](c *Comm, send, recv []T) (Request, error) {
	var k argument.Description
	return startColl(c, sliceCall(&k, argument.KindAlltoall, "Ialltoall", send, recv, 0))
}

// Ialltoallv is Alltoallv that does not wait (6.12.6). Counts and displacements are not used after it. It does not
// block. Errors as for Alltoallv.
func Ialltoallv[T any](c *Comm, send []T, scounts, sdispls []int, recv []T, rcounts, rdispls []int) (Request, error) {
	var k argument.Description
	setParts(sliceCall(&k, argument.KindAlltoallv, "Ialltoallv", send, recv, 0), scounts, sdispls, rcounts, rdispls)
	return startColl(c, &k)
}

// Ireduce is Reduce that does not wait (6.12.7). It does not block. An operation of the program runs inside a poll: it
// must not block, and its panic is ErrOp of the wait. Errors as for Reduce.
func Ireduce[T any](c *Comm, send, recv []T, op Op[T], root int) (Request, error) {
	var k argument.Description
	return startColl(c, reduction(&k, argument.KindReduce, "Ireduce", send, recv, op, root))
}

// Iallreduce is Allreduce that does not wait (6.12.8). It does not block. An operation of the program runs inside a
// poll: it must not block, and its panic is ErrOp of the wait. Errors as for Allreduce.
func Iallreduce[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	var k argument.Description
	return startColl(c, reduction(&k, argument.KindAllreduce, "Iallreduce", send, recv, op, 0))
}

// IreduceScatterBlock is ReduceScatterBlock that does not wait (6.12.9). It does not block. An operation of the program
// is as in Iallreduce. Errors as for ReduceScatterBlock.
func IreduceScatterBlock[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	var k argument.Description
	return startColl(c, reduction(&k, argument.KindReduceScatterBlock, "IreduceScatterBlock", send, recv, op, 0))
}

// IreduceScatter is ReduceScatter that does not wait (6.12.10). counts is not used after it. It does not block. An
// operation of the program is as in Iallreduce. Errors as for ReduceScatter.
func IreduceScatter[T any](c *Comm, send, recv []T, counts []int, op Op[T]) (Request, error) {
	var k argument.Description
	setParts(reduction(&k, argument.KindReduceScatter, "IreduceScatter", send, recv, op, 0), nil, nil, counts, nil)
	return startColl(c, &k)
}

// Iscan is Scan that does not wait (6.12.11). It does not block. An operation of the program is as in Iallreduce.
// Errors as for Scan.
func Iscan[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	var k argument.Description
	return startColl(c, reduction(&k, argument.KindScan, "Iscan", send, recv, op, 0))
}

// Iexscan is Exscan that does not wait (6.12.12). It does not block. An operation of the program is as in Iallreduce.
// Errors as for Exscan.
func Iexscan[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	var k argument.Description
	return startColl(c, reduction(&k, argument.KindExscan, "Iexscan", send, recv, op, 0))
}
