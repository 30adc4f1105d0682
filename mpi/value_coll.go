package mpi

import (
	"fmt"
	"math"

	"github.com/golci/golci/comm"
)

// Collectives of values: those of slices underneath, on what the codec makes of each value. Each takes two of these,
// one for the lengths and one for the bytes. A value that cannot be encoded travels as an empty message, so that the
// ranks stay in step. The rank that gives it returns ErrType with the reason, and so do the ranks that get it.
// Lengths that other ranks tell and this process cannot have give ErrMemory, and end the collectives of the
// communicator.

// BcastValue gives the value of rank root to all ranks of c, and returns it (6.4). The other ranks' v is not looked
// at. It waits, and may switch threads. Errors as for Bcast, and ErrType.
func BcastValue[T any](c *Comm, v T, root int) (T, error) {
	var b []byte
	var own error
	if c != nil && c.rank == root {
		b, own = c.packColl("BcastValue", &v)
	}
	n := []int64{int64(len(b))}
	if err := blocking(c, "BcastValue", nil, n, root, (*coll).bcast); err != nil {
		return v, err
	}
	x, err := start[byte](c, "BcastValue", false)
	if err != nil {
		return v, err
	}
	if c.rank != root {
		b, err = x.memory(n, root)
	}
	if err == nil {
		err = take(x, nil, b).bcast(root)
	}
	if err := x.finish(err); err != nil || own != nil || c.rank == root {
		return v, first(own, err)
	}
	return unpackFrom[T](c, "BcastValue", b, Status{Source: root, Tag: 0})
}

// GatherValue gives rank root of c the values of all ranks, by rank; the others get nil (6.5). It waits, and may switch
// threads. Errors as for Gatherv, and ErrType.
func GatherValue[T any](c *Comm, v T, root int) ([]T, error) {
	b, own := c.packColl("GatherValue", &v)
	var lens []int64
	if c != nil && c.rank == root {
		lens = make([]int64, len(c.group))
	}
	if err := blocking(c, "GatherValue", []int64{int64(len(b))}, lens, root, (*coll).gather); err != nil {
		return nil, err
	}
	x, err := start[byte](c, "GatherValue", false)
	if err != nil {
		return nil, err
	}
	var all []byte
	counts := ints(lens)
	if all, err = x.memory(lens, 0); err == nil {
		err = take(x, b, all).gatherv(counts, nil, root)
	}
	if err := x.finish(err); err != nil || own != nil || c.rank != root {
		return nil, first(own, err)
	}
	return unpackAll[T](c, "GatherValue", all, counts)
}

// AllgatherValue gives all ranks of c the values of all, by rank (6.7). It waits, and may switch threads. Errors as for
// Allgatherv, and ErrType.
func AllgatherValue[T any](c *Comm, v T) ([]T, error) {
	b, own := c.packColl("AllgatherValue", &v)
	all, counts, err := allgathervAlloc(c, "AllgatherValue", b)
	if err != nil || own != nil {
		return nil, first(own, err)
	}
	return unpackAll[T](c, "AllgatherValue", all, counts)
}

// ScatterValue gives rank i of c value i of root's list (6.6), which has one value for each rank. The lists of other
// ranks are ignored. It waits, and may switch threads. Errors as for Scatterv; ErrCount for a list of another length,
// at all ranks; ErrType.
func ScatterValue[T any](c *Comm, vs []T, root int) (v T, err error) {
	var all []byte
	var counts []int
	var own error
	if c != nil && c.rank == root {
		all, counts, own = packList(c, vs)
	}
	n := []int64{0}
	var lens []int64
	for _, k := range counts {
		lens = append(lens, int64(k))
	}
	if err := blocking(c, "ScatterValue", lens, n, root, (*coll).scatter); err != nil {
		return v, err
	}
	x, err := start[byte](c, "ScatterValue", false)
	if err != nil {
		return v, err
	}
	b, err := x.memory(n, root)
	if err == nil {
		err = take(x, all, b).scatterv(counts, nil, root)
	}
	if err := x.finish(err); err != nil || own != nil {
		return v, first(own, err)
	}
	return unpackFrom[T](c, "ScatterValue", b, Status{Source: root, Tag: 0})
}

// AllgathervAlloc is Allgatherv for ranks that do not know each other's counts. It finds the counts and allocates. It
// returns the elements of all ranks by rank, and how many came from each. It waits, and may switch threads. Errors as
// for Allgatherv, and ErrMemory.
func AllgathervAlloc[T any](c *Comm, send []T) (all []T, counts []int, err error) {
	return allgathervAlloc(c, "AllgathervAlloc", send)
}

// allgathervAlloc is AllgathervAlloc for the function what.
func allgathervAlloc[T any](c *Comm, what string, send []T) (all []T, counts []int, err error) {
	lens := make([]int64, c.Size())
	if err := blocking(c, what, []int64{int64(len(send))}, lens, 0, (*coll).allgather); err != nil {
		return nil, nil, err
	}
	x, err := start[T](c, what, false)
	if err != nil {
		return nil, nil, err
	}
	n, err := x.told(lens, 0, sizeOf[T]())
	if err == nil {
		err = x.notPlace("send", bytesOf(send))
	}
	if err == nil {
		all, counts = make([]T, n), ints(lens)
		err = take(x, send, all).allgatherv(counts, nil)
	}
	if err := x.finish(err); err != nil {
		return nil, nil, err
	}
	return all, counts, nil
}

// told is the sum of numbers of elements that ranks have told of theirs, the first of them rank first. Elements have
// size bytes. The numbers may be anything; what this process cannot have is an error.
func (x *coll) told(lens []int64, first, size int) (sum int64, err error) {
	most, worst := math.MaxInt64/int64(max(size, 1)), 0
	for i, n := range lens {
		if n < 0 {
			return 0, x.errorf(ErrCount, "rank %d has told of %d elements", first+i, n)
		}
		if n > lens[worst] {
			worst = i
		}
		sum = min(sum, most-n) + n // most if it would be more
	}
	if err := comm.CheckAlloc(sum * int64(size)); err != nil {
		return 0, fmt.Errorf("mpi: %s: %s, %d elements of %d bytes from rank %d: %w",
			x.kind, x.c.who(), lens[worst], size, first+worst, err)
	}
	return sum, nil
}

// memory is room for as many bytes as ranks have told of.
func (x *coll) memory(lens []int64, first int) ([]byte, error) {
	n, err := x.told(lens, first, 1)
	return make([]byte, n), err
}

// packColl encodes this rank's value for a collective. A nil communicator is left for the collective to report.
func (c *Comm) packColl(what string, v any) ([]byte, error) {
	if c == nil || c.proc == nil {
		return nil, nil
	}
	b, err := c.pack(v)
	if err != nil {
		err = fmt.Errorf("mpi: %s: %s: %w", what, c.who(), err)
	}
	return b, err
}

// packList encodes the root's values, one behind the other. Where there is an error all are empty.
func packList[T any](c *Comm, vs []T) (all []byte, counts []int, err error) {
	counts = make([]int, len(c.group))
	if len(vs) != len(counts) {
		return nil, counts, fmt.Errorf("mpi: ScatterValue: %s: %w: %d values for %d ranks", c.who(), ErrCount, len(vs), len(counts))
	}
	for i := range vs {
		b, err := c.packColl("ScatterValue", &vs[i])
		if err != nil {
			return nil, make([]int, len(counts)), fmt.Errorf("%w (the value for rank %d)", err, i)
		}
		all, counts[i] = append(all, b...), len(b)
	}
	return all, counts, nil
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

func ints(list []int64) []int {
	if list == nil {
		return nil
	}
	out := make([]int, len(list))
	for i, n := range list {
		out[i] = int(n)
	}
	return out
}

// first is the first of two errors that is one.
func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
