package core

import (
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
)

// Allreduce combines the In of all ranks into the Out of all. Its argument is not used.
func (x *Call) Allreduce(int) error {
	of, err := x.reduction(true)
	if err != nil {
		return err
	}
	send := &x.buf[schedule.In]
	if b := x.shmAllreduce(of.bytes, of.elem); b.do != nil {
		return x.overShm(b.alg, 0, of.bytes, b.do)
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
