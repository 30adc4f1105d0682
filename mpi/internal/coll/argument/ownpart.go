package argument

import (
	"fmt"
	"unsafe"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
)

// partOf gives where the part of a rank lies in an area of n equal parts, or of different ones.
func (a *Area) partOf(rank, n int) (at, bytes int) {
	if a.Lens != nil {
		return a.Displs[rank], a.Lens[rank]
	}
	each := a.Bytes / n
	return rank * each, each
}

// fit checks that what a rank sends to itself is as long as what it receives from itself and of the same elements, and
// that no buffer is both.
func (g *Datatypes) fit(k *Description, rank, size int) error {
	in, out := &g.In, &g.Out
	if in.IsInPlace || out.IsInPlace || !in.load || !out.store && k.Kind != KindExscan {
		return nil // rank 0 of an Exscan is looked at, too: no argument may be the memory of another one (2.3)
	}
	a, na := 0, in.Bytes
	b, nb := 0, out.Bytes
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
		na, nb = min(in.Bytes, out.Bytes), min(in.Bytes, out.Bytes)
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
	case na == 0 || in.Packed || out.Packed:
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

// Counts are the lengths of the parts of a result, in elements. Elements without bytes are none.
func (k *Description) Counts() []int {
	all := make([]int, len(k.Out.Parts.Counts))
	if k.Out.T.Size() == 0 {
		return all
	}
	copy(all, k.Out.Parts.Counts)
	return all
}

// EndBuffers shows the program the result, and lets go of the buffers.
func (g *Datatypes) EndBuffers(ok bool) {
	if g.Active {
		g.In.endArea(false)
		g.Out.endArea(ok)
		*g = Datatypes{}
	}
}

// Shares are the parts of the vector that a reduce-scatter deals among size ranks.
func (k *Description) Shares(size, bytes, elem int) *schedule.Parts {
	if k.Kind == KindReduceScatterBlock {
		return &schedule.Parts{Each: bytes}
	}
	lens, displs := k.Counts(), make([]int, size)
	for i := range lens {
		lens[i] *= elem
	}
	p := schedule.Packed(schedule.In, lens, displs)
	return &p
}

// Schedule are the parts of a buffer for n ranks.
func (a *Area) Schedule(b schedule.Buf, n int) *schedule.Parts {
	if a.Lens != nil {
		return &schedule.Parts{Buf: b, Counts: a.Lens, Displs: a.Displs, Size: 1}
	}
	return &schedule.Parts{Buf: b, Each: a.Bytes / max(n, 1)}
}

// noParts makes a buffer empty that has a part for each neighbour, where there is no neighbour.
func noParts(in, out *Side, k *Description, u *bufferUsage) {
	if u.ins == 0 && !k.SendsAll() {
		in.N = 0
	}
	if u.outs == 0 {
		out.N = 0
	}
}

// idleNear finds the parts of packed buffers that no message is for. Those are parts of neighbours that are not there.
// Parts of the rank itself are so, too, where it is named on one side only.
func (g *Datatypes) idleNear(k *Description, near *schedule.Neighbours, rank int) {
	if g.Out.Packed {
		g.Out.idle = near.IdleFrom(rank)
	}
	if g.In.Packed && !k.SendsAll() {
		g.In.idle = near.IdleTo(rank)
	}
}

// fitNear checks that what a rank sends to itself is as long as what it receives from itself, and that no buffer is
// both. Parts of different lengths may lie between each other.
func (g *Datatypes) fitNear(k *Description, near *schedule.Neighbours, rank int) error {
	in, out := &g.In, &g.Out
	for i, j := range near.Selves(rank) {
		na := in.Bytes
		if !k.SendsAll() {
			_, na = in.partOf(i, len(near.To))
		}
		_, nb := out.partOf(j, len(near.From))
		if na != nb {
			return fmt.Errorf("%w: the rank sends itself %d bytes and receives %d", sentinel.ErrCount, na, nb)
		}
	}
	if in.Lens != nil || out.Lens != nil || in.Packed || out.Packed {
		return nil
	}
	p, q := uintptr(in.mem), uintptr(out.mem)
	if in.Bytes > 0 && out.Bytes > 0 && p < q+uintptr(out.Bytes) && q < p+uintptr(in.Bytes) {
		return fmt.Errorf("%w: send and receive buffer overlap", sentinel.ErrBuffer)
	}
	return nil
}
