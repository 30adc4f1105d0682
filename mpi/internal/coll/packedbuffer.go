package coll

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
	mem   unsafe.Pointer
	bytes int
}

// doDense is Do, if all is as usual. !done: nothing has happened.
func (v *View) doDense(k *Description) (done bool, err error) {
	d := &denseKinds[k.Kind]
	if !d.on || v.betweenGroups() || v.comm.CheckUsable(k.What) != nil {
		return false, nil
	}
	u, err := v.uses(k)
	t := k.elemType(&u)
	if err != nil || t == nil || t.Size() <= 0 {
		return false, nil
	}
	in, okIn := k.In.dense(t, u.in, v.partCount(d.ins))
	out, okOut := k.Out.dense(t, u.out, v.partCount(d.outs))
	if !okIn || !okOut || in.overlaps(out) {
		return false, nil
	}
	size, o := 1, Operator{}
	switch {
	case k.Reduces():
		if size, o, err = k.operator(t); err != nil {
			return false, nil
		}
		fallthrough
	case k.Kind == KindAlltoall:
		if u.in && u.out && !k.In.Place && in.bytes != out.bytes {
			return false, nil
		}
	case k.Kind == KindAllgather:
		if !k.In.Place && in.bytes*len(v.Peers) != out.bytes {
			return false, nil
		}
	}
	sig := v.elemsOf(k, &u).Signature()
	x, err := v.beginCall(k.What, nil, false)
	if err != nil {
		return true, err
	}
	if x.signature = sig; v.Checked {
		x.options.Signature = sig
	}
	if k.In.Place {
		in.mem = InPlace()
	}
	x.setBuffers(in.mem, in.bytes/size, out.mem, out.bytes/size, size)
	x.op = o
	return true, x.Finish(x.choose(k.Kind, k.Root, nil, nil))
}

// partCount are how many parts of equal length a buffer has.
func (v *View) partCount(several bool) int {
	if several {
		return len(v.Peers)
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
	p, q := uintptr(d.mem), uintptr(e.mem)
	return p < q+uintptr(e.bytes) && q < p+uintptr(d.bytes)
}
