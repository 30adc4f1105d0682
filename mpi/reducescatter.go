package mpi

import (
	"github.com/golci/golci/mpi/internal/coll/argument"
)

// ReduceScatterBlock combines send of all ranks with op, element by element, and deals the result out (6.10.1): rank i
// gets the len(recv) elements from i*len(recv) on, in recv. send must be size times as long as recv, or longer, and
// must not overlap it. On all ranks send may be InPlace: recv then holds what the rank contributes, size equal parts,
// and its beginning gets the result; the rest of it is undefined. It waits, and may switch threads. Errors: ErrOp,
// ErrType, ErrCount, ErrTruncate, ErrBuffer, and those of Barrier.
func ReduceScatterBlock[T any](c *Comm, send, recv []T, op Op[T]) error {
	var k argument.Description
	return c.core().Do(reduction(&k, argument.KindReduceScatterBlock, "ReduceScatterBlock", send, recv, op, 0))
}

// ReduceScatter is ReduceScatterBlock for parts of different lengths (6.10.2): rank i gets counts[i] elements, behind
// those of lower ranks. counts is the same on all ranks. send must have as many elements as all parts, or more, and
// recv those of the rank's own, or more. Errors as for ReduceScatterBlock.
func ReduceScatter[T any](c *Comm, send, recv []T, counts []int, op Op[T]) error {
	var k argument.Description
	setParts(reduction(&k, argument.KindReduceScatter, "ReduceScatter", send, recv, op, 0), nil, nil, counts, nil)
	return c.core().Do(&k)
}
