package coll

import (
	"fmt"
	"unsafe"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
)

// partOf gives where the part of a rank lies in an area of n equal parts, or of different ones.
func (a *area) partOf(rank, n int) (at, bytes int) {
	if a.lens != nil {
		return a.displs[rank], a.lens[rank]
	}
	each := a.bytes / n
	return rank * each, each
}

// fit checks that what a rank sends to itself is as long as what it receives from itself and of the same elements, and
// that no buffer is both.
func (g *datatypeArgs) fit(k *Description, rank, size int) error {
	in, out := &g.in, &g.out
	if in.inPlace || out.inPlace || !in.load || !out.store && k.Kind != KindExscan {
		return nil // rank 0 of an Exscan is looked at, too: no argument may be the memory of another one (2.3)
	}
	a, na := 0, in.bytes
	b, nb := 0, out.bytes
	switch k.Kind {
	case KindGather, KindGatherv, KindAllgather, KindAllgatherv:
		b, nb = out.partOf(rank, size)
	case KindScatter, KindScatterv:
		a, na = in.partOf(rank, size)
	case KindAlltoall:
	case KindAlltoallv, KindAlltoallw:
		_, na = in.partOf(rank, size)
		_, nb = out.partOf(rank, size)
	default: // a reduction, or one buffer
		if !k.Reduces() {
			return nil
		}
		na, nb = min(in.bytes, out.bytes), min(in.bytes, out.bytes)
	}
	switch {
	case na > nb:
		return fmt.Errorf("%w: the rank sends itself %d bytes and receives %d", sentinel.ErrTruncate, na, nb)
	case na < nb:
		return fmt.Errorf("%w: the rank sends itself %d bytes and receives %d", sentinel.ErrCount, na, nb)
	case na > 0 && g.sent != 0 && g.received != 0 && g.sent != g.received:
		return fmt.Errorf("what the rank sends itself: %w", signature.NameTypes(&comm.SignatureError{
			Sent:     g.sent,
			Received: g.received,
		}))
	case na == 0 || in.packed || out.packed:
		return nil
	}
	p, q := uintptr(unsafe.Pointer(in.mem))+uintptr(a), uintptr(unsafe.Pointer(out.mem))+uintptr(b)
	if k.Kind == KindAlltoallv || k.Kind == KindAlltoallw {
		na, nb = 1, 1 // the parts may lie between each other
	}
	if p < q+uintptr(nb) && q < p+uintptr(na) {
		return fmt.Errorf("%w: send and receive buffer overlap; see MPI_IN_PLACE", sentinel.ErrBuffer)
	}
	return nil
}

// setDatatypes makes x the call k, whose buffers have datatypes: with its buffers, its operation and its schedule.
func (x *Call) setDatatypes(k *Description, g datatypeArgs, o Operator) error {
	x.signature, x.options.Signature = g.of.Signature(), g.signature()
	x.args = g
	x.args.active = true
	in, out := &x.args.in, &x.args.out
	in.beginArea()
	out.beginArea()
	size := max(g.elem, 1)
	mem := [2]unsafe.Pointer{unsafe.Pointer(unsafe.SliceData(in.data)), unsafe.Pointer(unsafe.SliceData(out.data))}
	if in.inPlace {
		mem[0] = InPlace()
	}
	if out.inPlace {
		mem[1] = InPlace()
	}
	x.setBuffers(mem[0], len(in.data)/size, mem[1], len(out.data)/size, size)
	x.op = o
	switch {
	case x.st.betweenGroups():
		return x.chooseInter(k)
	case k.neighbors():
		return x.chooseNear(k)
	case k.Kind == KindReduceScatter:
		return x.chooseReduceScatter(&Parts{Counts: k.counts()})
	}
	return x.choose(k.Kind, k.Root, &Parts{Counts: in.lens, Displs: in.displs},
		&Parts{Counts: out.lens, Displs: out.displs})
}

// counts are the lengths of the parts of a result, in elements. Elements without bytes are none.
func (k *Description) counts() []int {
	all := make([]int, len(k.Out.Parts.Counts))
	if k.Out.T.Size() == 0 {
		return all
	}
	copy(all, k.Out.Parts.Counts)
	return all
}

// endGiven shows the program the result, and lets go of the buffers.
func (g *datatypeArgs) endGiven(ok bool) {
	if g.active {
		g.in.endArea(false)
		g.out.endArea(ok)
		*g = datatypeArgs{}
	}
}
