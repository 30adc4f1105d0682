package mpi

// Collectives that do not wait (6.12). The package comment has the rules for buffers and errors. All ranks must start
// the collectives of a communicator in the same order, those that wait and those that do not. The two forms of one
// operation are different kinds. What is under way moves while a thread of the rank waits, polls or is idle. A call
// under way has no thread or goroutine of its own.

// Ibarrier is Barrier that does not wait (6.12.1): the request is done when all ranks have started it. It does not
// block. Errors as for Barrier.
func (c *Comm) Ibarrier() (Request, error) {
	return starting[byte](c, "Ibarrier", nil, nil, 0, (*coll).barrier)
}

// Ibcast is Bcast that does not wait (6.12.2). It does not block. Errors as for Bcast.
func Ibcast[T any](c *Comm, buf []T, root int) (Request, error) {
	return starting(c, "Ibcast", nil, buf, root, (*coll).bcast)
}

// Igather is Gather that does not wait (6.12.3). It does not block. Errors as for Gather.
func Igather[T any](c *Comm, send, recv []T, root int) (Request, error) {
	return starting(c, "Igather", send, recv, root, (*coll).gather)
}

// Iscatter is Scatter that does not wait (6.12.4). It does not block. Errors as for Scatter.
func Iscatter[T any](c *Comm, send, recv []T, root int) (Request, error) {
	return starting(c, "Iscatter", send, recv, root, (*coll).scatter)
}

// Iallgather is Allgather that does not wait (6.12.5). It does not block. Errors as for Allgather.
func Iallgather[T any](c *Comm, send, recv []T) (Request, error) {
	return starting(c, "Iallgather", send, recv, 0, (*coll).allgather)
}

// Ialltoall is Alltoall that does not wait (6.12.6). It does not block. Errors as for Alltoall.
func Ialltoall[T any](c *Comm, send, recv []T) (Request, error) {
	return starting(c, "Ialltoall", send, recv, 0, (*coll).alltoall)
}

// Ireduce is Reduce that does not wait (6.12.7). It does not block. An operation of the program runs inside a poll: it
// must not block, and its panic is ErrOp of the wait. Errors as for Reduce.
func Ireduce[T any](c *Comm, send, recv []T, op Op[T], root int) (Request, error) {
	r := op.reducer()
	return starting(c, "Ireduce", send, recv, root, func(x *coll, root int) error {
		x.op = r
		return x.reduce(root)
	})
}

// Iallreduce is Allreduce that does not wait (6.12.8). It does not block. An operation of the program runs inside a
// poll: it must not block, and its panic is ErrOp of the wait. Errors as for Allreduce.
func Iallreduce[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	r := op.reducer()
	return starting(c, "Iallreduce", send, recv, 0, func(x *coll, root int) error {
		x.op = r
		return x.allreduce(root)
	})
}
