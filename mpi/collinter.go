package mpi

import (
	"fmt"
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
)

// interCall is a collective of an inter-communicator as the program calls it (6.2.3). A buffer of equal parts holds as
// many as the other group has ranks, and nothing else: the rank may not know the length of a part otherwise.
type interCall[T any] struct {
	what             string
	kind             core.Kind
	in, out          []T
	root             int
	op               core.Operator
	counts, displs   []int // of in; of ReduceScatter, the parts of the result
	rcounts, rdispls []int // of out
}

func (g interCall[T]) doCall(c *Comm) error {
	k, err := g.coll(c)
	return doColl(c, k, err)
}

func (g interCall[T]) startCall(c *Comm) (Request, error) {
	k, err := g.coll(c)
	return startColl(c, k, err)
}

// coll is the collective for the layer below. That layer has no lengths of the slices, so they are checked here.
func (g interCall[T]) coll(c *Comm) (*core.Coll, error) {
	n, err := c.RemoteSize()
	if err != nil {
		return nil, err
	}
	k := &core.Coll{Kind: g.kind, What: g.what, Root: g.root, Operator: g.op}
	if err = elemOf[T]().Err(); err == nil {
		err = g.sides(c, k, n)
	}
	if err != nil {
		return nil, fmt.Errorf("mpi: %s: %w", g.what, err)
	}
	return k, nil
}

// sides sets the buffers of k. n is the size of the other group.
func (g *interCall[T]) sides(c *Comm, k *core.Coll, n int) (err error) {
	if k.In, err = wholeSide(g.in); err != nil {
		return err
	}
	if k.Out, err = wholeSide(g.out); err != nil {
		return err
	}
	if k.In.Place || k.Out.Place {
		return fmt.Errorf("%w: InPlace between two groups", ErrBuffer)
	}
	here := g.root == Root
	switch g.kind {
	case core.KindGather, core.KindAllgather:
		if here || g.kind == core.KindAllgather {
			err = equalParts(&k.Out, n)
		}
	case core.KindScatter:
		if here {
			err = equalParts(&k.In, n)
		}
	case core.KindAlltoall:
		if err = equalParts(&k.In, n); err == nil {
			err = equalParts(&k.Out, n)
		}
	case core.KindGatherv, core.KindAllgatherv:
		if here || g.kind == core.KindAllgatherv {
			err = unequalParts(&k.Out, n, g.rcounts, g.rdispls)
		}
	case core.KindScatterv:
		if here {
			err = unequalParts(&k.In, n, g.counts, g.displs)
		}
	case core.KindAlltoallv:
		if err = unequalParts(&k.In, n, g.counts, g.displs); err == nil {
			err = unequalParts(&k.Out, n, g.rcounts, g.rdispls)
		}
	case core.KindAllreduce:
		if k.Out.N = k.In.N; len(g.out) < len(g.in) {
			err = fmt.Errorf("%w: %d elements for a result of %d", ErrCount, len(g.out), len(g.in))
		}
	case core.KindReduceScatter:
		err = unequalParts(&k.In, c.Size(), g.counts, nil)
		if mine := k.In.Parts; err == nil && mine.Counts[c.Rank()] > int64(len(g.out)) {
			err = fmt.Errorf("%w: %d elements for a part of %d", ErrCount, len(g.out), mine.Counts[c.Rank()])
		}
		k.Out.Parts, k.In.Parts = k.In.Parts, core.Parts{}
	case core.KindReduceScatterBlock:
		if len(g.in)/c.Size() < len(g.out) {
			err = fmt.Errorf("%w: %d elements for %d parts of %d", ErrCount, len(g.in), c.Size(), len(g.out))
		}
	}
	return err
}

// wholeSide is all of buf.
func wholeSide[T any](buf []T) (core.Side, error) {
	mem := unsafe.Pointer(unsafe.SliceData(buf))
	if mem != nil && mem == core.InPlace() {
		return core.Side{Place: true}, nil
	}
	t, err := stridedType(Strided{1, 1, 1}, int64(sizeOf[T]()))
	return core.Side{Mem: mem, N: int64(len(buf)), T: t}, err
}

// equalParts makes s n equal parts.
func equalParts(s *core.Side, n int) error {
	if s.N%int64(n) != 0 {
		return fmt.Errorf("%w: %d elements are not %d equal parts", ErrCount, s.N, n)
	}
	s.N /= int64(n)
	return nil
}

// unequalParts makes s n parts, one behind the other if displs is nil. All of them are within s.
func unequalParts(s *core.Side, n int, counts, displs []int) error {
	if len(counts) != n || displs != nil && len(displs) != n {
		return fmt.Errorf("%w: %d counts and %d displacements of %d parts", ErrCount, len(counts), len(displs), n)
	}
	p := core.Parts{Counts: make([]int64, n), Displs: make([]int64, n)}
	next := int64(0)
	for i, m := range counts {
		if displs != nil {
			next = int64(displs[i])
		}
		if m < 0 || next < 0 || next > s.N || int64(m) > s.N-next {
			return fmt.Errorf("%w: part %d has %d elements at %d of %d", ErrCount, i, m, next, s.N)
		}
		p.Counts[i], p.Displs[i] = int64(m), next
		next += int64(m)
	}
	s.Parts = p
	return nil
}
