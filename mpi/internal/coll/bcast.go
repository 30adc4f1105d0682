package coll

import (
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/shmcoll"
)

// chooseBcast chooses how all ranks get the Out of root.
func (x *Call) chooseBcast(root int) error {
	buf := &x.buf[schedule.Out]
	if err := x.checkRoot(root); err != nil {
		return err
	}
	if err := x.checkNotPlace("broadcast", buf.mem); err != nil {
		return err
	}
	n := len(buf.mem)
	if w := x.shmBcast(n); w.OverMemory() {
		return x.overShm(w, root, n)
	}
	w := algorithm.ChooseBcast(x.size, n, buf.len)
	switch {
	case !x.plan(w, root, contribution{bytes: n, elem: buf.size}):
	case w == algorithm.BcastRing:
		x.steps.BcastRing(x.schedulePlace(), root, buf.len, buf.size)
	default:
		x.steps.BcastTree(x.schedulePlace(), root, n)
	}
	return nil
}

func (x *Call) shmBcast(n int) algorithm.Algorithm {
	switch {
	case x.tiers() && n <= shmcoll.Short:
		return algorithm.TierBcast
	case x.tiers():
		return algorithm.TierBcastLong
	case !x.canUseShm():
		return byMessages
	case n <= shmcoll.Short:
		return algorithm.ShmBcast
	case n <= algorithm.ShmMostOfTwo || x.size > 2:
		return algorithm.ShmBcastLong
	}
	return byMessages
}
