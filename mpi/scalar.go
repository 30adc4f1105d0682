package mpi

import (
	"github.com/golci/golci/mpi/internal/coll/argument"
)

// Collectives of one element, for the many that reduce or share a single number. They are those of slices underneath.

// AllreduceOne combines the x of all ranks of c with op and returns the result, the same at all (6.9.6). It waits,
// and may switch threads. Errors as for Allreduce.
func AllreduceOne[T any](c *Comm, x T, op Op[T]) (T, error) {
	var out [1]T
	var k argument.Description
	err := c.core().Do(reduction(&k, argument.KindAllreduce, "AllreduceOne", []T{x}, out[:], op, 0))
	return out[0], err
}

// ReduceOne combines the x of all ranks of c with op and returns the result at rank root, the zero value elsewhere
// (6.9.1). It waits, and may switch threads. Errors as for Reduce.
func ReduceOne[T any](c *Comm, x T, op Op[T], root int) (T, error) {
	var out [1]T
	var k argument.Description
	err := c.core().Do(reduction(&k, argument.KindReduce, "ReduceOne", []T{x}, out[:], op, root))
	if c.Rank() != root {
		var zero T
		return zero, err
	}
	return out[0], err
}

// BcastOne returns the x of rank root of c at all ranks (6.4). It waits, and may switch threads. Errors as for Bcast.
func BcastOne[T any](c *Comm, x T, root int) (T, error) {
	buf := []T{x}
	var k argument.Description
	err := c.core().Do(sliceCall(&k, argument.KindBcast, "BcastOne", nil, buf, root))
	return buf[0], err
}

// GatherOne returns the x of all ranks of c, by rank, at rank root, and nil elsewhere (6.5). It waits, and may switch
// threads. Errors as for Gather.
func GatherOne[T any](c *Comm, x T, root int) ([]T, error) {
	var all []T
	if c.Rank() == root {
		all = make([]T, c.Size())
	}
	var k argument.Description
	err := c.core().Do(sliceCall(&k, argument.KindGather, "GatherOne", []T{x}, all, root))
	return all, err
}

// AllgatherOne returns the x of all ranks of c, by rank (6.7). It waits, and may switch threads. Errors as for
// Allgather.
func AllgatherOne[T any](c *Comm, x T) ([]T, error) {
	all := make([]T, c.Size())
	var k argument.Description
	err := c.core().Do(sliceCall(&k, argument.KindAllgather, "AllgatherOne", []T{x}, all, 0))
	return all, err
}
