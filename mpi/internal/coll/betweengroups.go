package coll

import (
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
)

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

// meetAll makes s a barrier of all peers.
func (x *Call) meetAll(s *schedule.Schedule) {
	if x.st.betweenGroups() {
		s.InterBarrier(x.st.interPlace())
		return
	}
	s.Barrier(x.schedulePlace())
}
