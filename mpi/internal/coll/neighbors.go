package coll

import (
	"fmt"

	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// nearAlgorithms are the algorithms of the collectives of a neighbourhood.
var nearAlgorithms = [...]algorithm.Algorithm{
	algorithm.NearAllgather, algorithm.NearAllgatherv, algorithm.NearAlltoall, algorithm.NearAlltoallv,
	algorithm.NearAlltoallw,
}

// neighbors tells that the collective is one of a neighbourhood.
func (k *Description) neighbors() bool {
	return k.Kind >= KindNeighborAllgather && k.Kind <= KindNeighborAlltoallw
}

// sendsAll tells that all neighbours get the same.
func (k *Description) sendsAll() bool {
	return k.Kind == KindNeighborAllgather || k.Kind == KindNeighborAllgatherv
}

// nearUses is uses for a collective of a neighbourhood.
func (v *View) nearUses(k *Description) (u bufferUsage, err error) {
	near := v.comm.Neighborhood()
	switch {
	case near == nil:
		return u, fmt.Errorf("%w: the communicator has none", errs.Topology)
	case k.In.Place, k.Out.Place:
		return u, fmt.Errorf("%w: MPI_IN_PLACE in a neighbourhood", sentinel.ErrBuffer)
	}
	u = bufferUsage{in: true, out: true, outs: len(near.From)}
	if !k.sendsAll() {
		u.ins = len(near.To)
	}
	return u, nil
}

// noParts makes a buffer empty that has a part for each neighbour, where there is no neighbour.
func noParts(in, out *Side, k *Description, u *bufferUsage) {
	if u.ins == 0 && !k.sendsAll() {
		in.N = 0
	}
	if u.outs == 0 {
		out.N = 0
	}
}

// idleNear finds the parts of packed buffers that no message is for: those of neighbours that are not there, and those
// of the rank itself where it is named on one side only.
func (g *datatypeArgs) idleNear(k *Description, near *schedule.Neighbours, rank int) {
	if g.out.packed {
		g.out.idle = near.IdleFrom(rank)
	}
	if g.in.packed && !k.sendsAll() {
		g.in.idle = near.IdleTo(rank)
	}
}

// fitNear checks that what a rank sends to itself is as long as what it receives from itself, and that no buffer is
// both. Parts of different lengths may lie between each other.
func (g *datatypeArgs) fitNear(k *Description, near *schedule.Neighbours, rank int) error {
	in, out := &g.in, &g.out
	for i, j := range near.Selves(rank) {
		na := in.bytes
		if !k.sendsAll() {
			_, na = in.partOf(i, len(near.To))
		}
		_, nb := out.partOf(j, len(near.From))
		if na != nb {
			return fmt.Errorf("%w: the rank sends itself %d bytes and receives %d", sentinel.ErrCount, na, nb)
		}
	}
	if in.lens != nil || out.lens != nil || in.packed || out.packed {
		return nil
	}
	p, q := uintptr(in.mem), uintptr(out.mem)
	if in.bytes > 0 && out.bytes > 0 && p < q+uintptr(out.bytes) && q < p+uintptr(in.bytes) {
		return fmt.Errorf("%w: send and receive buffer overlap", sentinel.ErrBuffer)
	}
	return nil
}

// chooseNear builds the schedule of a collective of a neighbourhood: all messages at once.
func (x *Call) chooseNear(k *Description) error {
	near := x.view.comm.Neighborhood()
	w := nearAlgorithms[k.Kind-KindNeighborAllgather]
	x.takeAlgorithm(w, 0)
	s, in, out := x.fresh(w), &x.args.in, &x.args.out
	to := out.schedule(schedule.Out, len(near.From))
	if k.sendsAll() {
		s.NeighbourAllgather(x.rank, near, in.bytes, to)
	} else {
		s.NeighbourAlltoall(x.rank, near, in.schedule(schedule.In, len(near.To)), to)
	}
	return nil
}
