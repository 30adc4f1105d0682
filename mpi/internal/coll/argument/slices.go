package argument

import (
	"cmp"
	"fmt"
	"unsafe"

	"github.com/golci/golci/mpi/internal/sentinel"
)

// Collectives of a program in Go have slices of elements without pointers. In one group their bytes are the buffers of
// the call. Between two groups and in a neighbourhood they are described like the buffers of a program in C.

// SideOf is all of buf.
func SideOf[T any](buf []T) Side {
	return Side{Mem: unsafe.Pointer(unsafe.SliceData(buf)), N: int64(len(buf))}
}

// DescribeSlices gives the slices of such a call their datatype and their parts. It checks the lengths, as what comes
// after it has none of the slices.
func (k *Description) DescribeSlices(p *Peers) error {
	if err := k.Elem.Err(); err != nil {
		return err
	}
	u, err := k.uses(p)
	if k.In.Mem == InPlace() || k.Out.Mem == InPlace() {
		err = cmp.Or(err, fmt.Errorf("%w: InPlace between two groups, or in a neighbourhood", sentinel.ErrBuffer))
	}
	if err == nil {
		k.In.T, k.Out.T = k.Elem.Datatype(), k.Elem.Datatype()
		err = k.divideSlices(p, &u)
	}
	k.Elem = nil // what k describes now has datatypes
	return err
}

// divideSlices makes the slices that the rank uses parts of the call.
func (k *Description) divideSlices(p *Peers, u *bufferUsage) error {
	several, counted := k.partsOfSides()
	if several[0] && u.in {
		if err := k.In.divide(u.ins, counted, "send"); err != nil {
			return err
		}
	}
	if several[1] && u.out {
		if err := k.Out.divide(u.outs, counted, "receive"); err != nil {
			return err
		}
	}
	switch in, out := &k.In, &k.Out; k.Kind {
	case KindAllreduce:
		if out.N < in.N {
			return fmt.Errorf("%w: %d elements for a result of %d", sentinel.ErrCount, out.N, in.N)
		}
		out.N = in.N
	case KindReduceScatter:
		all := Side{N: in.N, Parts: out.Parts}
		if err := all.divide(p.Group, true, "send"); err != nil {
			return err
		}
		if mine := all.Parts.Counts[p.Rank]; int64(mine) > out.N {
			return fmt.Errorf("%w: %d elements for a part of %d", sentinel.ErrCount, out.N, mine)
		}
		out.Parts = all.Parts
	case KindReduceScatterBlock:
		if in.N/int64(p.Group) < out.N {
			return fmt.Errorf("%w: %d elements for %d parts of %d", sentinel.ErrCount, in.N, p.Group, out.N)
		}
	}
	return nil
}

// partsOfSides tells which buffers have a part for each peer, and whether the program gives the lengths of the parts.
func (k *Description) partsOfSides() (several [2]bool, counted bool) {
	switch k.Kind {
	case KindScatter, KindScatterv:
		several[0] = true
	case KindGather, KindGatherv, KindAllgather, KindAllgatherv, KindNeighborAllgather, KindNeighborAllgatherv:
		several[1] = true
	case KindAlltoall, KindAlltoallv, KindNeighborAlltoall, KindNeighborAlltoallv:
		several = [2]bool{true, true}
	}
	switch k.Kind {
	case KindGatherv, KindScatterv, KindAllgatherv, KindAlltoallv, KindNeighborAllgatherv, KindNeighborAlltoallv:
		counted = true
	}
	return several, counted
}

// divide makes s n parts: equal ones, or counted ones, which lie one behind the other where s has no displacements. All
// of them are within s.
func (s *Side) divide(n int, counted bool, name string) error {
	if !counted {
		if n > 0 && s.N%int64(n) != 0 {
			return fmt.Errorf("%w: %d elements in the %s buffer are no whole number for each of %d ranks",
				sentinel.ErrCount, s.N, name, n)
		}
		s.N /= int64(max(n, 1))
		return nil
	}
	counts, displs := s.Parts.Counts, s.Parts.Displs
	if len(counts) != n || displs != nil && len(displs) != n {
		return fmt.Errorf("%w: %d counts and %d displacements of the %s buffer for %d ranks",
			sentinel.ErrCount, len(counts), len(displs), name, n)
	}
	s.Parts = Parts{Counts: make([]int, n), Displs: make([]int, n)} // those of the program are not used after the call
	next := 0
	for i, count := range counts {
		at := next
		if displs != nil {
			at = displs[i]
		}
		if count < 0 || at < 0 || int64(at) > s.N || int64(count) > s.N-int64(at) {
			return fmt.Errorf("%w: part %d of the %s buffer has %d elements at %d of %d", sentinel.ErrCount, i, name, count,
				at, s.N)
		}
		s.Parts.Counts[i], s.Parts.Displs[i] = count, at
		next = at + count
	}
	return nil
}
