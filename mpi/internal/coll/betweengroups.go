package coll

import (
	"fmt"

	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// ProcNull is the null process (MPI_PROC_NULL).
const ProcNull = -3

// RootHere is what the root of a collective of two groups gives as root. Other ranks of its group give ProcNull, and
// those of the other group its rank (MPI_ROOT).
const RootHere = schedule.RootHere

// interAlgorithms are the algorithms of collectives of two groups. The two directions of a communicator have one tag.
var interAlgorithms = [...]algorithm.Algorithm{
	KindBarrier: algorithm.Barrier, KindBcast: algorithm.BcastTree, KindGather: algorithm.GatherAll,
	KindGatherv: algorithm.Gatherv,
	KindScatter: algorithm.ScatterAll, KindScatterv: algorithm.Scatterv, KindAllgather: algorithm.AllgatherSteps,
	KindAllgatherv: algorithm.Allgatherv, KindAlltoall: algorithm.AlltoallPairs, KindAlltoallv: algorithm.Alltoallv,
	KindAlltoallw: algorithm.Alltoallv, KindReduce: algorithm.ReduceTree, KindAllreduce: algorithm.AllreduceSwap,
	KindReduceScatter: algorithm.ReduceScatterShares, KindReduceScatterBlock: algorithm.BlockShares,
}

// interPlace is the rank's place in two groups.
func (e *Env) interPlace() schedule.Inter {
	return schedule.Inter{Place: schedule.Place{Rank: e.Rank, Size: e.Local}, Remote: e.otherSize()}
}

// interUses is uses for a communicator of two groups.
func (v *View) interUses(k *Description) (u bufferUsage, err error) {
	n, here, there := v.otherSize(), k.Root == RootHere, k.Root >= 0
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

// chooseInter builds the schedule of a call of two groups.
func (x *Call) chooseInter(k *Description) error {
	w, at := interAlgorithms[k.Kind], x.st.interPlace()
	x.takeAlgorithm(w, 0)
	x.once = false
	s, in, out := x.fresh(w), &x.args.in, &x.args.out
	lens := segmented(contribution{bytes: max(in.bytes, out.bytes), elem: x.args.elem})
	from, to := in.schedule(schedule.In, at.Remote), out.schedule(schedule.Out, at.Remote)
	switch k.Kind {
	case KindBarrier:
		s.InterBarrier(at)
	case KindBcast:
		s.InterBcast(at, k.Root, out.bytes)
	case KindGather, KindGatherv:
		s.InterGather(at, k.Root, in.bytes, to)
	case KindScatter, KindScatterv:
		s.InterScatter(at, k.Root, out.bytes, from)
	case KindAllgather:
		s.InterAllgather(at, in.bytes, out.bytes/at.Remote)
	case KindAllgatherv:
		s.InterAllgatherv(at, in.bytes, to)
	case KindReduce:
		s.InterReduce(at, k.Root, lens)
	case KindAllreduce:
		s.InterAllreduce(at, lens)
	case KindReduceScatter, KindReduceScatterBlock:
		s.InterReduceScatter(at, lens, k.shares(at.Size, out.bytes, x.args.elem))
	default:
		s.InterAlltoall(at, from, to)
	}
	return nil
}

// shares are the parts of the vector that a reduce-scatter deals among size ranks.
func (k *Description) shares(size, bytes, elem int) *schedule.Parts {
	if k.Kind == KindReduceScatterBlock {
		return &schedule.Parts{Each: bytes}
	}
	lens, displs := k.counts(), make([]int, size)
	for i := range lens {
		lens[i] *= elem
	}
	p := schedule.Packed(schedule.In, lens, displs)
	return &p
}

// schedule are the parts of a buffer for n ranks.
func (a *area) schedule(b schedule.Buf, n int) *schedule.Parts {
	if a.lens != nil {
		return &schedule.Parts{Buf: b, Counts: a.lens, Displs: a.displs, Size: 1}
	}
	return &schedule.Parts{Buf: b, Each: a.bytes / max(n, 1)}
}

// meetAll makes s a barrier of all peers.
func (x *Call) meetAll(s *schedule.Schedule) {
	if x.st.betweenGroups() {
		s.InterBarrier(x.st.interPlace())
		return
	}
	s.Barrier(x.schedulePlace())
}
