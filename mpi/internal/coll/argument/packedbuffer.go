package argument

import (
	"unsafe"

	"github.com/golci/golci/mpi/internal/dtype"
)

// The commonest collectives of a program in C have one datatype without holes, equal parts and arguments in order. Such
// a call is carried out as one of a Go program is, without a given. Wherever something is not so nothing is done, and
// the longer way finds out what it is.

// denseKinds are the collectives that doDense carries out, with how many parts the buffers of a rank have: a part for
// each rank, or one.
var denseKinds = [KindNeighborAlltoallw + 1]struct{ on, ins, outs bool }{
	KindBcast: {on: true}, KindReduce: {on: true}, KindAllreduce: {on: true},
	KindAllgather: {on: true, outs: true}, KindAlltoall: {on: true, ins: true, outs: true},
}

// mostOfPart is the most elements of a part. The bytes of all parts are a number of 64 bits.
const mostOfPart = 1 << 30

// packedBuffer is a buffer as doDense has it. The zero dense is one that the rank does not use.
type packedBuffer struct {
	Mem   unsafe.Pointer
	Bytes int
}

// Packed is a call as doDense has it.
type Packed struct {
	In, Out packedBuffer
	Size    int // bytes of an element
	Op      Operator
	Elems   uint64 // what they are compared by
}

// Pack gives the call, if all is as usual.
func (k *Description) Pack(p *Peers) (c Packed, ok bool) {
	d := &denseKinds[k.Kind]
	if !d.on || p.betweenGroups() {
		return c, false
	}
	u, err := k.uses(p)
	t := k.elemType(&u)
	if err != nil || t == nil || t.Size() <= 0 {
		return c, false
	}
	in, okIn := k.In.dense(t, u.in, p.partCount(d.ins))
	out, okOut := k.Out.dense(t, u.out, p.partCount(d.outs))
	if !okIn || !okOut || in.overlaps(out) {
		return c, false
	}
	c.Size = 1
	switch {
	case k.Reduces():
		if c.Size, c.Op, err = k.operator(t); err != nil {
			return c, false
		}
		fallthrough
	case k.Kind == KindAlltoall:
		if u.in && u.out && !k.In.Place && in.Bytes != out.Bytes {
			return c, false
		}
	case k.Kind == KindAllgather:
		if !k.In.Place && in.Bytes*p.Group != out.Bytes {
			return c, false
		}
	}
	if k.In.Place {
		in.Mem = InPlace()
	}
	c.In, c.Out, c.Elems = in, out, k.elemsOf(p, &u).Signature()
	return c, true
}

// partCount are how many parts of equal length a buffer has.
func (p *Peers) partCount(several bool) int {
	if several {
		return p.Group
	}
	return 1
}

// dense gives a side of n equal parts of elements of type t. used tells whether the rank uses it. !ok: doDense does not
// take it.
func (s *Side) dense(t *dtype.Type, used bool, n int) (d packedBuffer, ok bool) {
	switch {
	case !used, s.Place:
		return d, true
	case s.T != t || s.Mixed != nil || s.Parts.Counts != nil || s.N < 0 || s.N > mostOfPart:
		return d, false
	}
	if s.Mem == nil && s.N > 0 || !t.Dense() || !t.Committed() {
		return d, false
	}
	return packedBuffer{s.Mem, int(s.N*t.Size()) * n}, true
}

// overlaps tells whether two buffers have a byte in common.
func (d packedBuffer) overlaps(e packedBuffer) bool {
	p, q := uintptr(d.Mem), uintptr(e.Mem)
	return p < q+uintptr(e.Bytes) && q < p+uintptr(d.Bytes)
}
