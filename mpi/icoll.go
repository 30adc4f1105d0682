package mpi

import "github.com/golci/golci/mpi/internal/core"

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
	if c.Inter() {
		return interCall[T]{
			what: "Ibcast", kind: core.KindBcast,
			out: buf, root: root,
		}.startCall(c)
	}
	return starting(c, "Ibcast", nil, buf, root, (*core.Call).Bcast)
}

// Igather is Gather that does not wait (6.12.3). It does not block. Errors as for Gather.
func Igather[T any](c *Comm, send, recv []T, root int) (Request, error) {
	if c.Inter() {
		return interCall[T]{
			what: "Igather", kind: core.KindGather,
			in: send, out: recv, root: root,
		}.startCall(c)
	}
	return starting(c, "Igather", send, recv, root, (*core.Call).Gather)
}

// Iscatter is Scatter that does not wait (6.12.4). It does not block. Errors as for Scatter.
func Iscatter[T any](c *Comm, send, recv []T, root int) (Request, error) {
	if c.Inter() {
		return interCall[T]{
			what: "Iscatter", kind: core.KindScatter,
			in: send, out: recv, root: root,
		}.startCall(c)
	}
	return starting(c, "Iscatter", send, recv, root, (*core.Call).Scatter)
}

// Igatherv is Gatherv that does not wait (6.12.3). counts and displs are not used after it. It does not block. Errors
// as for Gatherv.
func Igatherv[T any](c *Comm, send, recv []T, counts, displs []int, root int) (Request, error) {
	if c.Inter() {
		return interCall[T]{
			what: "Igatherv", kind: core.KindGatherv,
			in: send, out: recv, root: root, rcounts: counts, rdispls: displs,
		}.startCall(c)
	}
	return starting(c, "Igatherv", send, recv, root, func(x *core.Call, root int) error {
		return x.Gatherv(counts, displs, root)
	})
}

// Iscatterv is Scatterv that does not wait (6.12.4). counts and displs are not used after it. It does not block. Errors
// as for Scatterv.
func Iscatterv[T any](c *Comm, send []T, counts, displs []int, recv []T, root int) (Request, error) {
	if c.Inter() {
		return interCall[T]{
			what: "Iscatterv", kind: core.KindScatterv,
			in: send, out: recv, root: root, counts: counts, displs: displs,
		}.startCall(c)
	}
	return starting(c, "Iscatterv", send, recv, root, func(x *core.Call, root int) error {
		return x.Scatterv(counts, displs, root)
	})
}

// Iallgather is Allgather that does not wait (6.12.5). It does not block. Errors as for Allgather.
func Iallgather[T any](c *Comm, send, recv []T) (Request, error) {
	if c.Inter() {
		return interCall[T]{
			what: "Iallgather", kind: core.KindAllgather,
			in: send, out: recv,
		}.startCall(c)
	}
	return starting(c, "Iallgather", send, recv, 0, (*core.Call).Allgather)
}

// Iallgatherv is Allgatherv that does not wait (6.12.5). counts and displs are not used after it. It does not block.
// Errors as for Allgatherv.
func Iallgatherv[T any](c *Comm, send, recv []T, counts, displs []int) (Request, error) {
	if c.Inter() {
		return interCall[T]{
			what: "Iallgatherv", kind: core.KindAllgatherv,
			in: send, out: recv, rcounts: counts, rdispls: displs,
		}.startCall(c)
	}
	return starting(c, "Iallgatherv", send, recv, 0, func(x *core.Call, _ int) error {
		return x.Allgatherv(counts, displs)
	})
}

// Ialltoall is Alltoall that does not wait (6.12.6). It does not block. Errors as for Alltoall.
func Ialltoall[T any](c *Comm, send, recv []T) (Request, error) {
	if c.Inter() {
		return interCall[T]{
			what: "Ialltoall", kind: core.KindAlltoall,
			in: send, out: recv,
		}.startCall(c)
	}
	return starting(c, "Ialltoall", send, recv, 0, (*core.Call).Alltoall)
}

// Ialltoallv is Alltoallv that does not wait (6.12.6). Counts and displacements are not used after it. It does not
// block. Errors as for Alltoallv.
func Ialltoallv[T any](c *Comm, send []T, scounts, sdispls []int, recv []T, rcounts, rdispls []int) (Request, error) {
	if c.Inter() {
		return interCall[T]{
			what: "Ialltoallv", kind: core.KindAlltoallv,
			in: send, out: recv, counts: scounts, displs: sdispls, rcounts: rcounts, rdispls: rdispls,
		}.startCall(c)
	}
	return starting(c, "Ialltoallv", send, recv, 0, func(x *core.Call, _ int) error {
		return x.Alltoallv(scounts, sdispls, rcounts, rdispls)
	})
}

// Ireduce is Reduce that does not wait (6.12.7). It does not block. An operation of the program runs inside a poll: it
// must not block, and its panic is ErrOp of the wait. Errors as for Reduce.
func Ireduce[T any](c *Comm, send, recv []T, op Op[T], root int) (Request, error) {
	if c.Inter() {
		return interCall[T]{
			what: "Ireduce", kind: core.KindReduce,
			in: send, out: recv, root: root, op: op.operator(),
		}.startCall(c)
	}
	return startReducing(c, "Ireduce", send, recv, op, root, (*core.Call).Reduce)
}

// Iallreduce is Allreduce that does not wait (6.12.8). It does not block. An operation of the program runs inside a
// poll: it must not block, and its panic is ErrOp of the wait. Errors as for Allreduce.
func Iallreduce[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	if c.Inter() {
		return interCall[T]{
			what: "Iallreduce", kind: core.KindAllreduce,
			in: send, out: recv, op: op.operator(),
		}.startCall(c)
	}
	return startReducing(c, "Iallreduce", send, recv, op, 0, (*core.Call).Allreduce)
}

// IreduceScatterBlock is ReduceScatterBlock that does not wait (6.12.9). It does not block. An operation of the program
// is as in Iallreduce. Errors as for ReduceScatterBlock.
func IreduceScatterBlock[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	if c.Inter() {
		return interCall[T]{
			what: "IreduceScatterBlock", kind: core.KindReduceScatterBlock,
			in: send, out: recv, op: op.operator(),
		}.startCall(c)
	}
	return startReducing(c, "IreduceScatterBlock", send, recv, op, 0, (*core.Call).ReduceScatterBlock)
}

// IreduceScatter is ReduceScatter that does not wait (6.12.10). counts is not used after it. It does not block. An
// operation of the program is as in Iallreduce. Errors as for ReduceScatter.
func IreduceScatter[T any](c *Comm, send, recv []T, counts []int, op Op[T]) (Request, error) {
	if c.Inter() {
		return interCall[T]{
			what: "IreduceScatter", kind: core.KindReduceScatter,
			in: send, out: recv, op: op.operator(), counts: counts,
		}.startCall(c)
	}
	return startReducing(c, "IreduceScatter", send, recv, op, 0, func(x *core.Call, _ int) error {
		return x.ReduceScatter(counts)
	})
}

// Iscan is Scan that does not wait (6.12.11). It does not block. An operation of the program is as in Iallreduce.
// Errors as for Scan.
func Iscan[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	if c.Inter() {
		return interCall[T]{
			what: "Iscan", kind: core.KindScan,
			in: send, out: recv, op: op.operator(),
		}.startCall(c)
	}
	return startReducing(c, "Iscan", send, recv, op, 0, (*core.Call).Scan)
}

// Iexscan is Exscan that does not wait (6.12.12). It does not block. An operation of the program is as in Iallreduce.
// Errors as for Exscan.
func Iexscan[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	if c.Inter() {
		return interCall[T]{
			what: "Iexscan", kind: core.KindExscan,
			in: send, out: recv, op: op.operator(),
		}.startCall(c)
	}
	return startReducing(c, "Iexscan", send, recv, op, 0, (*core.Call).Exscan)
}
