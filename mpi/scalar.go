package mpi

// Collectives of one element, for the many that reduce or share a single number. They are those of slices underneath.

// AllreduceOne combines the x of all ranks of c with op and returns the result, the same at all (6.9.6). It waits,
// and may switch threads. Errors as for Allreduce.
func AllreduceOne[T any](c *Comm, x T, op Op[T]) (T, error) {
	var out [1]T
	_, err := reducing(c, "AllreduceOne", []T{x}, out[:], op, 0, (*coll).allreduce)
	return out[0], err
}

// ReduceOne combines the x of all ranks of c with op and returns the result at rank root, the zero value elsewhere
// (6.9.1). It waits, and may switch threads. Errors as for Reduce.
func ReduceOne[T any](c *Comm, x T, op Op[T], root int) (T, error) {
	var out [1]T
	_, err := reducing(c, "ReduceOne", []T{x}, out[:], op, root, (*coll).reduce)
	if c == nil || c.rank != root {
		var zero T
		return zero, err
	}
	return out[0], err
}

// BcastOne returns the x of rank root of c at all ranks (6.4). It waits, and may switch threads. Errors as for Bcast.
func BcastOne[T any](c *Comm, x T, root int) (T, error) {
	buf := []T{x}
	err := blocking(c, "BcastOne", nil, buf, root, (*coll).bcast)
	return buf[0], err
}

// GatherOne returns the x of all ranks of c, by rank, at rank root, and nil elsewhere (6.5). It waits, and may switch
// threads. Errors as for Gather.
func GatherOne[T any](c *Comm, x T, root int) ([]T, error) {
	var all []T
	if c != nil && c.rank == root {
		all = make([]T, len(c.group))
	}
	err := blocking(c, "GatherOne", []T{x}, all, root, (*coll).gather)
	return all, err
}

// AllgatherOne returns the x of all ranks of c, by rank (6.7). It waits, and may switch threads. Errors as for
// Allgather.
func AllgatherOne[T any](c *Comm, x T) ([]T, error) {
	all := make([]T, c.Size())
	err := blocking(c, "AllgatherOne", []T{x}, all, 0, (*coll).allgather)
	return all, err
}
