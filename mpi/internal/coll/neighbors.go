package coll

import (
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
)

// nearAlgorithms are the algorithms of the collectives of a neighbourhood.
var nearAlgorithms = [...]algorithm.Algorithm{
	algorithm.NearAllgather, algorithm.NearAllgatherv, algorithm.NearAlltoall, algorithm.NearAlltoallv,
	algorithm.NearAlltoallw,
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
