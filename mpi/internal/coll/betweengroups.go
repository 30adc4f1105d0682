package coll

import (
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/coll/argument"
)

// interAlgorithms are the algorithms of collectives of two groups. The two directions of a communicator have one tag.
var interAlgorithms = [...]algorithm.Algorithm{
	argument.KindBarrier:            algorithm.Barrier,
	argument.KindBcast:              algorithm.BcastTree,
	argument.KindGather:             algorithm.GatherAll,
	argument.KindGatherv:            algorithm.Gatherv,
	argument.KindScatter:            algorithm.ScatterAll,
	argument.KindScatterv:           algorithm.Scatterv,
	argument.KindAllgather:          algorithm.AllgatherSteps,
	argument.KindAllgatherv:         algorithm.Allgatherv,
	argument.KindAlltoall:           algorithm.AlltoallPairs,
	argument.KindAlltoallv:          algorithm.Alltoallv,
	argument.KindAlltoallw:          algorithm.Alltoallv,
	argument.KindReduce:             algorithm.ReduceTree,
	argument.KindAllreduce:          algorithm.AllreduceSwap,
	argument.KindReduceScatter:      algorithm.ReduceScatterShares,
	argument.KindReduceScatterBlock: algorithm.BlockShares,
}

// interPlace is the rank's place in two groups.
func (e *Env) interPlace() schedule.Inter {
	return schedule.Inter{Place: schedule.Place{Rank: e.Rank, Size: e.Local}, Remote: e.otherSize()}
}

// chooseInter builds the schedule of a call of two groups.
func (x *Call) chooseInter(k *argument.Description) error {
	w, at := interAlgorithms[k.Kind], x.st.interPlace()
	x.takeAlgorithm(w, 0)
	x.once = false
	s, in, out := x.fresh(w), &x.args.In, &x.args.Out
	lens := segmented(contribution{bytes: max(in.Bytes, out.Bytes), elem: x.args.Elem})
	from, to := in.Schedule(schedule.In, at.Remote), out.Schedule(schedule.Out, at.Remote)
	switch k.Kind {
	case argument.KindBarrier:
		s.InterBarrier(at)
	case argument.KindBcast:
		s.InterBcast(at, k.Root, out.Bytes)
	case argument.KindGather, argument.KindGatherv:
		s.InterGather(at, k.Root, in.Bytes, to)
	case argument.KindScatter, argument.KindScatterv:
		s.InterScatter(at, k.Root, out.Bytes, from)
	case argument.KindAllgather:
		s.InterAllgather(at, in.Bytes, out.Bytes/at.Remote)
	case argument.KindAllgatherv:
		s.InterAllgatherv(at, in.Bytes, to)
	case argument.KindReduce:
		s.InterReduce(at, k.Root, lens)
	case argument.KindAllreduce:
		s.InterAllreduce(at, lens)
	case argument.KindReduceScatter, argument.KindReduceScatterBlock:
		s.InterReduceScatter(at, lens, k.Shares(at.Size, out.Bytes, x.args.Elem))
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
