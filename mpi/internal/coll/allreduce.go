package coll

import (
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/shmcoll"
)

// chooseAllreduce chooses how the In of all ranks are combined into the Out of all.
func (x *Call) chooseAllreduce() error {
	of, err := x.reduction(true)
	if err != nil {
		return err
	}
	send := &x.buf[schedule.In]
	if w := x.shmAllreduce(of.bytes, of.elem); w.OverMemory() {
		return x.overShm(w, 0, of.bytes)
	}
	w := algorithm.ChooseAllreduce(x.size, of.bytes, send.len)
	switch {
	case !x.plan(w, 0, of):
	case w == algorithm.AllreduceRing:
		x.steps.AllreduceShares(x.schedulePlace(), send.len, send.size)
	default:
		x.steps.AllreduceDoubling(x.schedulePlace(), of.bytes, of.inPlace)
	}
	return nil
}

// halved tells that the nodes are halves of the ranks, and so on, and that a block has an element for each rank.
func (x *Call) halved(elem int) bool { return x.st.shared.halves && elem*x.size <= shmcoll.ChunkBytes }

func (x *Call) shmAllreduce(n, elem int) algorithm.Algorithm {
	switch {
	case x.tiers() && n <= shmcoll.Short && x.halved(elem):
		return algorithm.TierAllreduce
	case x.tiers() && x.halved(elem):
		return algorithm.TierAllreduceLong
	case !x.canUseShm():
		return byMessages
	case n <= shmcoll.Short:
		return algorithm.ShmAllreduce
	case elem*x.size <= shmcoll.ChunkBytes:
		return algorithm.ShmAllreduceLong
	}
	return byMessages
}
