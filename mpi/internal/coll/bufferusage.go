package coll

import (
	"fmt"

	"github.com/golci/golci/mpi/internal/sentinel"
)

// bufferUsage says which buffers of a collective a rank uses, and in how many parts: 0 for what is no array of parts.
type bufferUsage struct {
	in, out   bool
	ins, outs int
	root      bool // the rank is root
}

// uses tells what a rank uses of the arguments. Where a buffer may not be MPI_IN_PLACE, that is ErrBuffer.
func (v *View) uses(k *Description) (u bufferUsage, err error) {
	switch {
	case k.neighbors():
		return v.nearUses(k)
	case v.betweenGroups():
		return v.interUses(k)
	}
	n := len(v.Peers)
	u, inPlace, outPlace := bufferUsage{in: true, out: true}, true, false
	rooted := true
	at := v.Rank == k.Root
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

// Used tells how many parts the buffers of k have that the rank uses, 0 of one that is no array of parts, -1 of one that
// is not used. A call with a bad root uses nothing.
func (v *View) Used(k *Description) (ins, outs int) {
	u, _ := v.uses(k)
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
