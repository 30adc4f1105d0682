package mpi

import (
	"github.com/golci/golci/mpi/internal/coll/argument"
)

// Collectives of slices whose lengths only their senders know. They find the counts and allocate.

// GathervAlloc is Gatherv for a root that does not know the counts of the others (6.5). It finds the counts and
// allocates. The root gets the elements of all ranks by rank, and how many came from each; the others get nil. It
// waits, and may switch threads. Errors as for Gatherv, and ErrMemory.
func GathervAlloc[T any](c *Comm, send []T, root int) (all []T, counts []int, err error) {
	return gatherParts(valueCall{c, "GathervAlloc", root}, argument.KindGather, argument.KindGatherv, send)
}

// AlltoallvAlloc is Alltoallv for ranks that do not know what the others send them (6.8). The first counts[0] elements
// of send go to rank 0, the next counts[1] to rank 1, and so on. It finds the counts of the others and allocates. It
// returns the elements that have come, by rank, and how many came from each. It waits, and may switch threads. Errors
// as for Alltoallv, and ErrMemory.
func AlltoallvAlloc[T any](c *Comm, send []T, counts []int) (got []T, from []int, err error) {
	lens := make([]int64, len(counts))
	for i, n := range counts {
		lens[i] = int64(n)
	}
	return exchangeParts(valueCall{c, "AlltoallvAlloc", 0}, send, lens)
}
