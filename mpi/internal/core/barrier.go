package core

import "github.com/golci/golci/mpi/internal/coll/algorithm"

// Barrier waits until all ranks of c have called it.
func (c *Comm) Barrier() error { return c.BarrierFor("Barrier") }

// BarrierFor is Barrier for the function what.
func (c *Comm) BarrierFor(what string) error {
	x, err := c.beginCall(what, nil, false)
	if err != nil {
		return err
	}
	return x.Finish(x.chooseBarrier())
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

// lastBarrier is the barrier of Finalize. It is no numbered call, so that it works when collectives have failed.
func (c *Comm) lastBarrier() error {
	if err := c.checkUsable("Finalize"); err != nil {
		return err
	}
	x := c.lastCall()
	x.fresh(algorithm.Finalize).Barrier(x.schedulePlace())
	return x.perform()
}

// lastCall is a call in Finalize.
func (c *Comm) lastCall() *Call {
	x := &Call{c: c, st: c.coll, kind: "Finalize", alg: algorithm.Finalize, rank: c.rank, size: len(c.group)}
	x.tag = algorithm.MakeTag(x.size, algorithm.Finalize, 0, 0)
	x.lastTag = x.tag
	return x
}

// Ibarrier is Barrier that does not wait.
func (c *Comm) Ibarrier() (Request, error) {
	x, err := c.beginCall("Ibarrier", nil, true) // which communicators of two groups have, too
	if err != nil {
		return Request{}, err
	}
	x.setBuffers(nil, 0, nil, 0, 1)
	return x.Launch(x.chooseBarrier())
}
