package mpi

import (
	"github.com/golci/golci/mpi/internal/coll/argument"
)

// Scan combines send of all ranks up to the caller's own with op, element by element, into recv (6.11.1). recv must be
// as long as send or longer, and must not overlap it; send may be InPlace. What is of lower ranks comes first. Equal
// vectors give equal results, bit for bit, whatever their length. It waits, and may switch threads. Errors: ErrOp,
// ErrType, ErrCount, ErrTruncate, ErrBuffer, and those of Barrier.
func Scan[T any](c *Comm, send, recv []T, op Op[T]) error {
	var k argument.Description
	return c.core().Do(reduction(&k, argument.KindScan, "Scan", send, recv, op, 0))
}

// Exscan is Scan without the caller's own send: that of lower ranks only (6.11.2). recv of rank 0 is left as it is; it
// may be nil. The result of rank i is that of Scan at rank i-1, bit for bit. It waits, and may switch threads. Errors
// as for Scan.
func Exscan[T any](c *Comm, send, recv []T, op Op[T]) error {
	var k argument.Description
	return c.core().Do(reduction(&k, argument.KindExscan, "Exscan", send, recv, op, 0))
}
