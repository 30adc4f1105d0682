package mpi

import (
	"cmp"
	"fmt"

	"github.com/golci/golci/mpi/internal/coll/argument"
)

// Collectives of values. A rank whose value cannot be encoded returns ErrType with the reason; so do the ranks that get
// it.

// BcastValue gives the value of rank root to all ranks of c, and returns it (6.4). The v of other ranks is not used. On
// an inter-communicator the ranks of the root's group get their v back. It waits, and may switch threads. Errors as for
// Bcast, and ErrType.
func BcastValue[T any](c *Comm, v T, root int) (T, error) {
	var b []byte
	var own error
	here := c.isRoot(root)
	if here {
		b, own = c.packColl("BcastValue", &v)
	}
	got, err := valueCall{c, "BcastValue", root}.bcast(b)
	if err := cmp.Or(own, err); err != nil || here || root == ProcNull {
		return v, err
	}
	return unpackFrom[T](c, "BcastValue", got, Status{Source: root, Tag: 0})
}

// GatherValue gives rank root of c the values of all ranks, by rank; the others get nil (6.5). On an inter-communicator
// they are those of the other group. It waits, and may switch threads. Errors as for Gatherv, and ErrType.
func GatherValue[T any](c *Comm, v T, root int) ([]T, error) {
	return gatherValue(c, "GatherValue", v, root)
}

func gatherValue[T any](c *Comm, what string, v T, root int) ([]T, error) {
	var b []byte
	var own error
	if c.sendsTo(root) {
		b, own = c.packColl(what, &v)
	}
	all, counts, err := gatherParts(valueCall{c, what, root}, argument.KindGather, argument.KindGatherv, b)
	if err := cmp.Or(own, err); err != nil || !c.isRoot(root) {
		return nil, err
	}
	return unpackAll[T](c, what, all, counts)
}

// AllgatherValue gives all ranks of c the values of all, by rank (6.7). On an inter-communicator they are those of the
// other group. It waits, and may switch threads. Errors as for Allgatherv, and ErrType.
func AllgatherValue[T any](c *Comm, v T) ([]T, error) { return allgatherValue(c, "AllgatherValue", v) }

func allgatherValue[T any](c *Comm, what string, v T) ([]T, error) {
	b, own := c.packColl(what, &v)
	all, counts, err := allgathervAlloc(c, what, b)
	if err := cmp.Or(own, err); err != nil {
		return nil, err
	}
	return unpackAll[T](c, what, all, counts)
}

// ScatterValue gives rank i of c value i of root's list (6.6), which has one value for each rank. On an
// inter-communicator they go to the other group, and the root's group gets zero values. The lists of other ranks are
// ignored. It waits, and may switch threads. Errors as for Scatterv; ErrCount for a list of another length, at all
// ranks; ErrType.
func ScatterValue[T any](c *Comm, vs []T, root int) (T, error) {
	return scatterValue(c, "ScatterValue", vs, root)
}

func scatterValue[T any](c *Comm, what string, vs []T, root int) (v T, err error) {
	var all []byte
	var lens []int64
	var own error
	if c.isRoot(root) {
		all, lens, own = packList(c, what, vs)
	}
	b, err := valueCall{c, what, root}.scatter(all, lens)
	if err := cmp.Or(own, err); err != nil || c.Inter() && root < 0 {
		return v, err
	}
	return unpackFrom[T](c, what, b, Status{Source: root, Tag: 0})
}

// AlltoallValue gives rank i of c value i of the caller's list, and returns what the ranks have given the caller, by
// rank (6.8). On an inter-communicator they are those of the other group. It waits, and may switch threads. Errors as
// for Alltoallv; ErrCount for a list of another length, and ErrType at the ranks that get its values; ErrType.
func AlltoallValue[T any](c *Comm, vs []T) ([]T, error) {
	all, lens, own := packList(c, "AlltoallValue", vs)
	got, counts, err := exchangeParts(valueCall{c, "AlltoallValue", 0}, all, lens)
	if err := cmp.Or(own, err); err != nil {
		return nil, err
	}
	return unpackAll[T](c, "AlltoallValue", got, counts)
}

// AllgathervAlloc is Allgatherv for ranks that do not know each other's counts. It finds the counts and allocates. It
// returns the elements of all ranks by rank, and how many came from each. It waits, and may switch threads. Errors as
// for Allgatherv, and ErrMemory.
func AllgathervAlloc[T any](c *Comm, send []T) (all []T, counts []int, err error) {
	return allgathervAlloc(c, "AllgathervAlloc", send)
}

// allgathervAlloc is AllgathervAlloc for the function what.
func allgathervAlloc[T any](c *Comm, what string, send []T) (all []T, counts []int, err error) {
	return gatherParts(valueCall{c: c, what: what}, argument.KindAllgather, argument.KindAllgatherv, send)
}

// packColl encodes this rank's value for a collective. A nil communicator is left for the collective to report.
func (c *Comm) packColl(what string, v any) ([]byte, error) {
	if c.Proc() == nil {
		return nil, nil
	}
	b, err := c.pack(v)
	if err != nil {
		err = c.core().Errorf(what, ": %w", err)
	}
	return b, err
}

// packList encodes values, one for each rank and one behind the other, and gives their lengths. Where there is an error
// all are empty.
func packList[T any](c *Comm, what string, vs []T) (all []byte, lens []int64, err error) {
	lens = make([]int64, c.peers())
	if len(vs) != len(lens) {
		return nil, lens, c.core().Errorf(what, ": %w: %d values for %d ranks", ErrCount, len(vs), len(lens))
	}
	for i := range vs {
		b, err := c.packColl(what, &vs[i])
		if err != nil {
			return nil, make([]int64, len(lens)), fmt.Errorf("%w (the value for rank %d)", err, i)
		}
		all, lens[i] = append(all, b...), int64(len(b))
	}
	return all, lens, nil
}

// unpackAll decodes the values of all ranks.
func unpackAll[T any](c *Comm, what string, all []byte, counts []int) ([]T, error) {
	vs := make([]T, len(counts))
	for i, n := range counts {
		v, err := unpackFrom[T](c, what, all[:n], Status{Source: i, Tag: 0})
		if err != nil {
			return nil, err
		}
		vs[i], all = v, all[n:]
	}
	return vs, nil
}
