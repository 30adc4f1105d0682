package coll

import (
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/shmcoll"
)

// chooseAllgather chooses how all ranks get the equal parts of all.
func (x *Call) chooseAllgather() (err error) {
	send, recv := &x.buf[schedule.In], &x.buf[schedule.Out]
	own := argument.IsInPlace(send.mem)
	if send.mem, err = x.equalOwn(send.mem, recv.mem, "receive", send.size); err != nil {
		return err
	}
	if w := x.shmAllgather(len(send.mem)); w.OverMemory() {
		return x.overShm(w, 0, len(send.mem))
	}
	n, w := len(send.mem), algorithm.AllgatherRing
	if algorithm.AllgathersInSteps(x.size, n*x.size) {
		w = algorithm.AllgatherSteps
	}
	switch {
	case !x.plan(w, 0, contribution{bytes: n, inPlace: own}):
	case w == algorithm.AllgatherSteps:
		x.steps.AllgatherSteps(x.schedulePlace(), n, own)
	default:
		x.steps.AllgatherRing(x.schedulePlace(), &schedule.Parts{Buf: schedule.Out, Each: n}, own)
	}
	return nil
}

// chooseAllgatherv is chooseAllgather for parts of different lengths. Without displacements one lies behind the other.
func (x *Call) chooseAllgatherv(p *argument.Parts) error {
	send, recv := &x.buf[schedule.In], &x.buf[schedule.Out]
	l, err := x.layout("receive", recv.len, p, true)
	if err != nil {
		return err
	}
	own := argument.IsInPlace(send.mem)
	if send.mem, err = x.partOwn(send.mem, recv.mem, l, "send", send.size); err != nil {
		return err
	}
	if parts := l.partsOf(schedule.Out, recv.size); algorithm.AllgathersInSteps(x.size, l.sumLengths()*recv.size) {
		x.takeAlgorithm(algorithm.AllgathervSteps, 0)
		x.fresh(algorithm.AllgathervSteps).AllgathervSteps(x.schedulePlace(), parts, own)
	} else {
		x.takeAlgorithm(algorithm.Allgatherv, 0)
		x.fresh(algorithm.Allgatherv).AllgatherRing(x.schedulePlace(), parts, own)
	}
	return nil
}

func (x *Call) shmAllgather(n int) algorithm.Algorithm {
	switch {
	case x.tiers() && x.st.shared.blocks && n <= shmcoll.Short:
		return algorithm.TierAllgather
	case !x.canUseShm():
		return byMessages
	case n <= shmcoll.Short:
		return algorithm.ShmAllgather
	case n >= algorithm.ShmGets && x.size == 2 && x.st.shared.gets:
		return algorithm.ShmAllgatherParts
	}
	return algorithm.ShmAllgatherLong
}
