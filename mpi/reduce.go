package mpi

import (
	"github.com/golci/golci/mpi/internal/coll/argument"
)

// Reduce combines send of all ranks with op, element by element, into recv of rank root (6.9.1). recv is used at root
// only and must be as long as send there, or longer, and must not overlap it. send of root may be InPlace: recv then
// holds what it contributes. It waits, and may switch threads. Errors: ErrRoot, ErrOp, ErrType, ErrCount,
// ErrTruncate, ErrBuffer, and those of Barrier.
func Reduce[T any](c *Comm, send, recv []T, op Op[T], root int) error {
	var k argument.Description
	return c.core().Do(reduction(&k, argument.KindReduce, "Reduce", send, recv, op, root))
}

// Allreduce is Reduce whose result all ranks get, into recv, which must be as long as send or longer, and must not
// overlap it; send may be InPlace (6.9.6). It waits, and may switch threads. Short vectors go by recursive doubling;
// long ones round a ring, each rank combining its share. Errors: ErrOp, ErrType, ErrCount, ErrTruncate, ErrBuffer, and
// those of Barrier.
func Allreduce[T any](c *Comm, send, recv []T, op Op[T]) error {
	var k argument.Description
	return c.core().Do(reduction(&k, argument.KindAllreduce, "Allreduce", send, recv, op, 0))
}

// ReduceLocal sets inout[i] to in[i] op inout[i] for all elements of in (6.9.7). No other rank takes part. inout must
// be as long as in or longer, and must not overlap it. A panic of op goes through. Errors: ErrOp, ErrType, ErrCount
// and ErrBuffer.
func ReduceLocal[T any](in, inout []T, op Op[T]) error {
	return argument.ReduceLocal(op.operator(), elemOf[T](), bytesOf(in), bytesOf(inout))
}
