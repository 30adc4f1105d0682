package coll

import (
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/coll/argument"
)

// nearAlgorithms are the algorithms of the collectives of a neighbourhood.
var nearAlgorithms = [...]algorithm.Algorithm{
	algorithm.NearAllgather, algorithm.NearAllgatherv, algorithm.NearAlltoall, algorithm.NearAlltoallv,
	algorithm.NearAlltoallw,
}

// chooseNear builds the schedule of a collective of a neighbourhood: all messages at once.
func (x *Call) chooseNear(k *argument.Description) error {
	near := x.view.comm.Neighborhood()
	w := nearAlgorithms[k.Kind-argument.KindNeighborAllgather]
	x.takeAlgorithm(w, 0)
	s, in, out := x.fresh(w), &x.args.In, &x.args.Out
	to := out.Schedule(schedule.Out, len(near.From))
	if k.SendsAll() {
		s.NeighbourAllgather(x.rank, near, in.Bytes, to)
	} else {
		s.NeighbourAlltoall(x.rank, near, in.Schedule(schedule.In, len(near.To)), to)
	}
	return nil
}
