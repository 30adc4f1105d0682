package mpi

import (
	"cmp"
	"fmt"

	"github.com/golci/golci/internal/mpi/core"
)

// A collective of values is two collectives of slices, on what the codec makes of the values: one of lengths, and one
// of bytes. A value that cannot be encoded travels as an empty message, so that the ranks stay in step. The rank that
// gives it returns ErrType with the reason. So do the ranks that get it. Lengths that this process cannot have give
// ErrMemory, and end the collectives of the communicator.

// inTwo carries out both for the function what: first on in and out, and then bytes, which may set its buffers.
func inTwo(c *Comm, what string, in, out []int64, root int, lengths, bytes func(x *core.Call, root int) error) error {
	if err := blocking(c, what, in, out, root, lengths); err != nil {
		return err
	}
	return blocking[byte](c, what, nil, nil, root, bytes)
}

// BcastValue gives the value of rank root to all ranks of c, and returns it (6.4). The v of other ranks is not used.
// It waits, and may switch threads. Errors as for Bcast, and ErrType.
func BcastValue[T any](c *Comm, v T, root int) (T, error) {
	var b []byte
	var own error
	if c.Rank() == root {
		b, own = c.packColl("BcastValue", &v)
	}
	n := []int64{int64(len(b))}
	err := inTwo(c, "BcastValue", nil, n, root, (*core.Call).Bcast, func(x *core.Call, root int) (err error) {
		if x.Rank() != root {
			if b, err = x.Memory(n, root); err != nil {
				return err
			}
		}
		return buffers(x, nil, b).Bcast(root)
	})
	if err := cmp.Or(own, err); err != nil || c.Rank() == root {
		return v, err
	}
	return unpackFrom[T](c, "BcastValue", b, Status{Source: root, Tag: 0})
}

// GatherValue gives rank root of c the values of all ranks, by rank; the others get nil (6.5). It waits, and may switch
// threads. Errors as for Gatherv, and ErrType.
func GatherValue[T any](c *Comm, v T, root int) ([]T, error) {
	b, own := c.packColl("GatherValue", &v)
	var lens []int64
	if c.Rank() == root {
		lens = make([]int64, c.Size())
	}
	var all []byte
	var counts []int
	mine := []int64{int64(len(b))}
	err := inTwo(c, "GatherValue", mine, lens, root, (*core.Call).Gather, func(x *core.Call, root int) (err error) {
		counts = ints(lens)
		if all, err = x.Memory(lens, 0); err != nil {
			return err
		}
		return buffers(x, b, all).Gatherv(counts, nil, root)
	})
	if err := cmp.Or(own, err); err != nil || c.Rank() != root {
		return nil, err
	}
	return unpackAll[T](c, "GatherValue", all, counts)
}

// AllgatherValue gives all ranks of c the values of all, by rank (6.7). It waits, and may switch threads. Errors as for
// Allgatherv, and ErrType.
func AllgatherValue[T any](c *Comm, v T) ([]T, error) {
	b, own := c.packColl("AllgatherValue", &v)
	all, counts, err := allgathervAlloc(c, "AllgatherValue", b)
	if err := cmp.Or(own, err); err != nil {
		return nil, err
	}
	return unpackAll[T](c, "AllgatherValue", all, counts)
}

// ScatterValue gives rank i of c value i of root's list (6.6), which has one value for each rank. The lists of other
// ranks are ignored. It waits, and may switch threads. Errors as for Scatterv; ErrCount for a list of another length,
// at all ranks; ErrType.
func ScatterValue[T any](c *Comm, vs []T, root int) (v T, err error) {
	var all, b []byte
	var lens []int64
	var own error
	if c.Rank() == root {
		all, lens, own = packList(c, vs)
	}
	n := []int64{0}
	err = inTwo(c, "ScatterValue", lens, n, root, (*core.Call).Scatter, func(x *core.Call, root int) (err error) {
		if b, err = x.Memory(n, root); err != nil {
			return err
		}
		return buffers(x, all, b).Scatterv(ints(lens), nil, root)
	})
	if err := cmp.Or(own, err); err != nil {
		return v, err
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
	mine := []int64{int64(len(send))}
	if err := blocking(c, what, mine, lens, 0, (*core.Call).Allgather); err != nil {
		return nil, nil, err
	}
	err = blocking(c, what, send, nil, 0, func(x *core.Call, _ int) error {
		n, err := x.Told(lens, 0, sizeOf[T]())
		if err != nil {
			return err
		}
		if err := x.NotPlace("send", bytesOf(send)); err != nil {
			return err
		}
		all, counts = make([]T, n), ints(lens)
		return buffers(x, send, all).Allgatherv(counts, nil)
	})
	if err != nil {
		return nil, nil, err
	}
	return all, counts, nil
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

// packList encodes the root's values, one behind the other, and gives their lengths. Where there is an error all are
// empty.
func packList[T any](c *Comm, vs []T) (all []byte, lens []int64, err error) {
	lens = make([]int64, c.Size())
	if len(vs) != len(lens) {
		return nil, lens, c.core().Errorf("ScatterValue", ": %w: %d values for %d ranks", ErrCount, len(vs), len(lens))
	}
	for i := range vs {
		b, err := c.packColl("ScatterValue", &vs[i])
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
