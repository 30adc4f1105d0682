package coll

import (
	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
)

// Barrier waits until all ranks have called it, for the function what.
func (v *View) Barrier(what string) error {
	x, err := v.beginCall(what, nil, false)
	if err != nil {
		return err
	}
	return x.finishCall(x.chooseBarrier())
}

// chooseBarrier chooses how the call waits for all ranks.
func (x *Call) chooseBarrier() error {
	switch {
	case x.canUseShm():
		return x.overShm(algorithm.ShmBarrier, 0, 0)
	case x.tiers():
		return x.overShm(algorithm.TierBarrier, 0, 0)
	}
	if x.plan(algorithm.Barrier, 0, contribution{}) {
		x.steps.Barrier(x.schedulePlace())
	}
	return nil
}

// LastBarrier is the barrier of Finalize. It is no numbered call, so that it works when collectives have failed.
func (v *View) LastBarrier() error {
	x := v.lastCall()
	x.fresh(algorithm.Finalize).Barrier(x.schedulePlace())
	return x.perform()
}

// lastCall is a call in Finalize.
func (v *View) lastCall() *Call {
	x := &Call{view: v, st: v.State, kind: "Finalize", alg: algorithm.Finalize, rank: v.Rank, size: v.groupSize()}
	x.tag = algorithm.MakeTag(x.size, algorithm.Finalize, 0, 0)
	x.lastTag = x.tag
	return x
}

// Ibarrier is Barrier that does not wait.
func (v *View) Ibarrier() (comm.Req, error) {
	x, err := v.beginCall("Ibarrier", nil, true) // which communicators of two groups have, too
	if err != nil {
		return comm.Req{}, err
	}
	x.setBuffers(nil, 0, nil, 0, 1)
	return x.launchCall(x.chooseBarrier())
}
