package coll

import (
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
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
