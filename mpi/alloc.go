package mpi

import "github.com/golci/golci/mpi/internal/core"

// Collectives of slices whose lengths only their senders know. They find the counts and allocate.

// GathervAlloc is Gatherv for a root that does not know the counts of the others (6.5). It finds the counts and
// allocates. The root gets the elements of all ranks by rank, and how many came from each; the others get nil. It
// waits, and may switch threads. Errors as for Gatherv, and ErrMemory.
func GathervAlloc[T any](c *Comm, send []T, root int) (all []T, counts []int, err error) {
	return gatherParts(valueCall{c, "GathervAlloc", root}, send)
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

// room allocates as many elements as ranks have told of, the first of which is first.
func room[T any](x *core.Call, lens []int64, first int) ([]T, error) {
	n, err := x.Told(lens, first, sizeOf[T]())
	return make([]T, n), err
}

// gatherParts gives the root the send of all, and the length of each. Others get nothing.
func gatherParts[T any](m valueCall, send []T) (all []T, counts []int, err error) {
	mine, lens := []int64{int64(len(send))}, []int64(nil)
	if m.c.isRoot(m.root) {
		lens = make([]int64, m.c.peers())
	}
	if m.c.Inter() {
		return gatherPartsBetween(m, core.KindGather, core.KindGatherv, send, mine, lens)
	}
	if err := blocking(m.c, m.what, mine, lens, m.root, (*core.Call).Gather); err != nil {
		return nil, nil, err
	}
	err = blocking(m.c, m.what, send, nil, m.root, func(x *core.Call, root int) (err error) {
		if err := x.NotPlace("send", bytesOf(send)); err != nil {
			return err
		}
		counts = ints(lens)
		if all, err = room[T](x, lens, 0); err != nil {
			return err
		}
		return buffers(x, send, all).Gatherv(counts, nil, root)
	})
	if err != nil || lens == nil {
		return nil, nil, err
	}
	return all, counts, nil
}

// gatherPartsBetween is gatherParts or, with its kinds, an allgather of two groups.
func gatherPartsBetween[T any](
	m valueCall, lengths, parts core.Kind, send []T, mine, lens []int64,
) (all []T, counts []int, err error) {
	n, err := m.counted(lengths, mine, lens, sizeOf[T]())
	if err != nil {
		return nil, nil, err
	}
	all, counts = make([]T, n), ints(lens)
	g := twoGroupsOf[T](m, parts)
	g.in, g.out, g.rcounts = send, all, counts
	if err := g.doCall(m.c); err != nil {
		return nil, nil, err
	}
	return all, counts, nil
}

// exchangeParts gives each rank a part of send, the lengths of which are lens, and gets a part from each.
func exchangeParts[T any](m valueCall, send []T, lens []int64) (got []T, counts []int, err error) {
	theirs := make([]int64, m.c.peers())
	if m.c.Inter() {
		n, err := m.counted(core.KindAlltoall, lens, theirs, sizeOf[T]())
		if err != nil {
			return nil, nil, err
		}
		got, counts = make([]T, n), ints(theirs)
		g := twoGroupsOf[T](m, core.KindAlltoallv)
		g.in, g.counts, g.out, g.rcounts = send, ints(lens), got, counts
		if err := g.doCall(m.c); err != nil {
			return nil, nil, err
		}
		return got, counts, nil
	}
	err = blocking(m.c, m.what, lens, theirs, 0, func(x *core.Call, root int) error {
		if len(lens) != len(theirs) {
			return m.c.core().Errorf(m.what, ": %w: %d counts for %d ranks", ErrCount, len(lens), len(theirs))
		}
		return x.Alltoall(root)
	})
	if err != nil {
		return nil, nil, err
	}
	err = blocking(m.c, m.what, send, nil, 0, func(x *core.Call, _ int) (err error) {
		if err := x.NotPlace("send", bytesOf(send)); err != nil {
			return err
		}
		if got, err = room[T](x, theirs, 0); err != nil {
			return err
		}
		counts = ints(theirs)
		return buffers(x, send, got).Alltoallv(ints(lens), nil, counts, nil)
	})
	if err != nil {
		return nil, nil, err
	}
	return got, counts, nil
}
