package argument

import (
	"fmt"

	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// bufferUsage says which buffers of a collective a rank uses, and in how many parts: 0 for what is no array of parts.
type bufferUsage struct {
	in, out   bool
	ins, outs int
	root      bool // the rank is root
}

// uses tells what a rank uses of the arguments. Where a buffer may not be MPI_IN_PLACE, that is ErrBuffer.
func (k *Description) uses(p *Peers) (u bufferUsage, err error) {
	switch {
	case k.Neighbors():
		return k.nearUses(p)
	case p.betweenGroups():
		return k.interUses(p)
	}
	n := p.Group
	u, inPlace, outPlace := bufferUsage{in: true, out: true}, true, false
	rooted := true
	at := p.Rank == k.Root
	switch k.Kind {
	case KindBcast:
		u.in = false
	case KindReduce:
		u.out, inPlace = at, at
	case KindGather, KindGatherv:
		u.out, u.outs, inPlace = at, n, at
	case KindScatter, KindScatterv:
		u.in, u.ins, inPlace, outPlace = at, n, false, at
	default:
		rooted = false
	}
	u.root = rooted && at
	switch k.Kind {
	case KindBarrier:
		u = bufferUsage{}
	case KindAllgather, KindAllgatherv:
		u.outs = n
	case KindAlltoall, KindAlltoallv, KindAlltoallw:
		u.ins, u.outs = n, n
	}
	switch {
	case rooted && uint(k.Root) >= uint(n):
		return u, fmt.Errorf("%w: %d", sentinel.ErrRoot, k.Root)
	case u.in && k.In.Place && !inPlace:
		return u, fmt.Errorf("%w: the send buffer is MPI_IN_PLACE", sentinel.ErrBuffer)
	case u.out && k.Out.Place && !outPlace:
		return u, fmt.Errorf("%w: the receive buffer is MPI_IN_PLACE", sentinel.ErrBuffer)
	}
	return u, nil
}

// Used returns how many parts each buffer of k has. It is 0 for a buffer that is no array of parts. It is -1 for a
// buffer that the rank does not use. A call with a bad root uses nothing.
func (k *Description) Used(p *Peers) (ins, outs int) {
	u, _ := k.uses(p)
	ins, outs = u.ins, u.outs
	if !u.in {
		ins = -1
	}
	if !u.out {
		outs = -1
	}
	return ins, outs
}

// Reduces tells that the collective has an operation.
func (k *Description) Reduces() bool { return k.Kind >= KindReduce && k.Kind <= KindExscan }

// interUses is uses for a communicator of two groups.
func (k *Description) interUses(p *Peers) (u bufferUsage, err error) {
	n, here, there := p.Other, k.Root == RootHere, k.Root >= 0
	u = bufferUsage{in: true, out: true, root: here}
	rooted := true
	switch k.Kind {
	case KindBcast:
		u.in, u.out = false, here || there
	case KindReduce:
		u.in, u.out = there, here
	case KindGather, KindGatherv:
		u.in, u.out, u.outs = there, here, n
	case KindScatter, KindScatterv:
		u.in, u.out, u.ins = here, there, n
	default:
		rooted = false
	}
	switch k.Kind {
	case KindBarrier:
		u = bufferUsage{}
	case KindAllgather, KindAllgatherv:
		u.outs = n
	case KindAlltoall, KindAlltoallv, KindAlltoallw:
		u.ins, u.outs = n, n
	case KindScan, KindExscan:
		return u, fmt.Errorf("%w: it has two groups", sentinel.ErrComm)
	}
	switch {
	case rooted && !here && k.Root != ProcNull && (!there || k.Root >= n):
		return u, fmt.Errorf("%w: %d", sentinel.ErrRoot, k.Root)
	case u.in && k.In.Place || u.out && k.Out.Place:
		return u, fmt.Errorf("%w: MPI_IN_PLACE between two groups", sentinel.ErrBuffer)
	}
	return u, nil
}

// Neighbors tells that the collective is one of a neighbourhood.
func (k *Description) Neighbors() bool {
	return k.Kind >= KindNeighborAllgather && k.Kind <= KindNeighborAlltoallw
}

// SendsAll tells that all neighbours get the same.
func (k *Description) SendsAll() bool {
	return k.Kind == KindNeighborAllgather || k.Kind == KindNeighborAllgatherv
}

// nearUses is uses for a collective of a neighbourhood.
func (k *Description) nearUses(p *Peers) (u bufferUsage, err error) {
	near := p.Near
	switch {
	case near == nil:
		return u, fmt.Errorf("%w: the communicator has none", errs.Topology)
	case k.In.Place, k.Out.Place:
		return u, fmt.Errorf("%w: MPI_IN_PLACE in a neighbourhood", sentinel.ErrBuffer)
	}
	u = bufferUsage{in: true, out: true, outs: len(near.From)}
	if !k.SendsAll() {
		u.ins = len(near.To)
	}
	return u, nil
}
