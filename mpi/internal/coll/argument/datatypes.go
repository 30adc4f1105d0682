package argument

import (
	"fmt"

	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
)

// Datatypes is what a call has of a Coll. The zero given is of calls that have none.
type Datatypes struct {
	Active  bool
	In, Out Area
	Elem    int // bytes of an element of a reduction, else 1

	Of             *signature.Elem // what the elements of all ranks are compared by, in what they have called
	sent, received uint64          // what elements are compared by in messages; 0: they are not
}

// ReadDatatypes looks at the arguments of a collective that have datatypes. It gives the buffers that the rank uses,
// and the operation. checked tells that messages carry the signature of their elements.
func (k *Description) ReadDatatypes(p *Peers, checked bool) (g Datatypes, o Operator, err error) {
	u, err := k.uses(p)
	if err == nil {
		err = k.measure(p, &u, &g)
	}
	if err == nil && checked {
		g.sent, g.received = k.In.signature(&g.In), k.Out.signature(&g.Out)
	}
	if err == nil && k.Reduces() && (u.in || u.out) {
		g.Elem, o, err = k.operator(k.elemType(&u))
	}
	switch {
	case err != nil || p.betweenGroups():
	case k.Neighbors():
		err = g.fitNear(k, p.Near, p.Rank)
	default:
		err = g.fit(k, p.Rank, p.Group)
	}
	return g, o, err
}

// signature is that of the elements of a side which the rank uses; 0 if there are none, or of several signatures.
func (s *Side) signature(a *Area) uint64 {
	switch {
	case a.Bytes == 0 || a.IsInPlace:
		return 0
	case s.Mixed == nil:
		return signature.ElemOf(s.T).Signature()
	}
	var sig uint64
	for i, t := range s.Mixed.Types {
		if s.Parts.Counts[i] == 0 {
			continue
		}
		if e := signature.ElemOf(t).Signature(); sig == 0 {
			sig = e
		} else if e != sig {
			return 0
		}
	}
	return sig
}

// Signature is what the messages of the call are compared by; 0 if what the rank sends and receives may differ.
func (g *Datatypes) Signature() uint64 {
	switch {
	case g.sent == 0 || g.sent == g.received:
		return g.received
	case g.received == 0:
		return g.sent
	}
	return 0
}

// operator is how elements of type t are combined, and their size.
func (k *Description) operator(t *dtype.Type) (int, Operator, error) {
	if k.Op == nil && k.Operator.Combiner != nil {
		return int(max(t.Size(), 1)), k.Operator, nil
	}
	if k.Op == nil {
		return 0, Operator{}, fmt.Errorf("%w: there is no operation", sentinel.ErrOp)
	}
	return operatorFor(k.Op, t)
}

// elemType is the datatype of a reduction.
func (k *Description) elemType(u *bufferUsage) *dtype.Type {
	if u.in && !k.In.Place {
		return k.In.T
	}
	return k.Out.T
}

// measure looks at the buffers that the rank uses.
func (k *Description) measure(p *Peers, u *bufferUsage, g *Datatypes) error {
	g.Elem = 1
	g.Of = k.elemsOf(p, u)
	in, out := k.In, k.Out
	switch k.Kind { // they give the lengths of parts of the result; what is combined is all of them
	case KindReduceScatter:
		if err := in.sumParts(&out.Parts, p.Rank, &out); err != nil {
			return err
		}
	case KindReduceScatterBlock:
		if in.N = out.N * int64(p.Group); out.N > 0 && in.N/out.N != int64(p.Group) {
			return errTooLong(out.N)
		}
		if in.Place {
			out.N = in.N
		}
	}
	if k.Neighbors() {
		noParts(&in, &out, k, u)
	}
	g.In.absolute = k.Kind == KindNeighborAlltoallw // whose displacements are addresses, if the buffer is MPI_BOTTOM
	g.Out.absolute = g.In.absolute
	if u.in {
		if err := g.In.setSide(&in, u.ins, "send"); err != nil {
			return err
		}
	}
	if u.out {
		if err := g.Out.setSide(&out, u.outs, "receive"); err != nil {
			return err
		}
	}
	if k.Neighbors() {
		g.idleNear(k, p.Near, p.Rank)
	}
	g.In.load = u.in
	g.Out.load = in.Place && u.in || k.Kind == KindBcast && u.root
	g.Out.store = u.out && !(k.Kind == KindBcast && u.root || k.Kind == KindExscan && p.Rank == 0)
	g.Out.written = g.Out.Bytes
	switch {
	case !in.Place:
	case k.Kind == KindReduceScatter:
		g.Out.written = int(int64(k.Out.Parts.Counts[p.Rank]) * out.T.Size())
	case k.Kind == KindReduceScatterBlock:
		g.Out.written /= p.Group
	}
	return nil
}

// elemsOf is what the elements of a collective are compared by. Those of all ranks must be the same, but where each
// pair of ranks may have its own. A rank that brings nothing may have any.
func (k *Description) elemsOf(p *Peers, u *bufferUsage) *signature.Elem {
	if p.betweenGroups() || k.Neighbors() || k.Kind == KindAlltoallv || k.Kind == KindAlltoallw {
		return &signature.Anything
	}
	t := k.Out.T
	if !u.out || k.Out.Place || k.Kind == KindScatterv && u.root {
		t = k.In.T
	}
	if t == nil {
		return &signature.Anything
	}
	if i := int(t.Basic()) - signature.FirstBasic; uint(i) < signature.BasicTypes && signature.ElemsOfBasic[i] != nil {
		return signature.ElemsOfBasic[i]
	}
	return signature.ElemOf(t)
}
