package coll

import (
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/shmcoll"
)

// chooseReduceScatterBlock chooses how the In of all ranks are combined, and rank i gets the i-th of as many equal
// parts of the result, in Out.
func (x *Call) chooseReduceScatterBlock() error {
	own, err := x.scatters()
	if err != nil {
		return err
	}
	in, out := &x.buf[schedule.In], &x.buf[schedule.Out]
	each := out.len
	if own {
		if each = in.len / x.size; in.len%x.size != 0 {
			return x.callErrorf(sentinel.ErrCount, "%d elements are no whole number for each of %d ranks", in.len, x.size)
		}
	} else if err := x.lengthFor("send", in.len, each*x.size); err != nil {
		return err
	}
	n := each * in.size
	if x.canUseShm() && n*x.size <= shmcoll.Short {
		return x.overShm(algorithm.ShmBlock, 0, n)
	}
	w := algorithm.ChooseBlock(x.size, n*x.size)
	if x.plan(w, 0, contribution{n, in.size, own}) {
		parts := schedule.Parts{Buf: schedule.In, Each: n}
		x.scatterShares(w == algorithm.BlockHalving, &parts, own)
	}
	return nil
}

// chooseReduceScatter is chooseReduceScatterBlock for parts of different lengths, one behind the other.
func (x *Call) chooseReduceScatter(p *argument.Parts) error {
	own, err := x.scatters()
	if err != nil {
		return err
	}
	in, out := &x.buf[schedule.In], &x.buf[schedule.Out]
	l, err := x.layout("send", in.len, p, false)
	if err != nil {
		return err
	}
	if err := x.lengthFor("receive", out.len, l.counts[x.rank]); err != nil {
		return err
	}
	w := algorithm.ChooseReduceScatter(x.size, l.sumLengths()*in.size)
	x.takeAlgorithm(w, 0)
	x.fresh(w)
	x.scatterShares(w == algorithm.ReduceScatterHalving, l.partsOf(schedule.In, in.size), own)
	return nil
}

// scatters checks what both have in common. It reports whether the vector lies in Out, which then is In, too.
func (x *Call) scatters() (own bool, err error) {
	in, out := &x.buf[schedule.In], &x.buf[schedule.Out]
	switch {
	case x.op.Combiner == nil:
		return false, x.callErrorf(sentinel.ErrOp, "the operation has no function")
	case argument.IsInPlace(in.mem):
		*in = *out
		return true, x.checkNotPlace("receive", out.mem)
	}
	return false, x.apart(in.mem, out.mem)
}

// scatterShares builds a schedule.
func (x *Call) scatterShares(halving bool, parts *schedule.Parts, own bool) {
	if halving {
		x.steps.ReduceScatterHalving(x.schedulePlace(), parts, own)
	} else {
		x.steps.ReduceScatterShares(x.schedulePlace(), parts, own)
	}
}
