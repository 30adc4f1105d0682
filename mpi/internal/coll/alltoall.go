package coll

import (
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/shmcoll"
)

// chooseAlltoall chooses how part j of In goes to rank j.
func (x *Call) chooseAlltoall() error {
	send, recv := &x.buf[schedule.In], &x.buf[schedule.Out]
	in, own := send, argument.IsInPlace(send.mem)
	if own {
		in = recv
	}
	if in.len%x.size != 0 {
		return x.callErrorf(sentinel.ErrCount, "%d elements are no whole number for each of %d ranks", in.len, x.size)
	}
	if err := x.apart(send.mem, recv.mem); err != nil {
		return err
	}
	if err := x.lengthFor("receive", recv.len, in.len); err != nil {
		return err
	}
	n := len(in.mem) / x.size
	if w := x.shmAlltoall(n, own); w.OverMemory() {
		if own {
			*send = *recv
		}
		return x.overShm(w, 0, n)
	}
	w := algorithm.ChooseAlltoall(x.size, n)
	if w == algorithm.AlltoallBruck && own {
		*send = *recv // this one needs no copy
	}
	if !x.plan(w, 0, contribution{bytes: n, inPlace: own}) {
		return nil
	}
	from, to, saved := schedule.Parts{Buf: schedule.In, Each: n}, schedule.Parts{Buf: schedule.Out, Each: n}, 0
	if own {
		from.Buf, saved = schedule.Work, len(in.mem)
	}
	switch w {
	case algorithm.AlltoallBruck:
		x.steps.AlltoallBruck(x.schedulePlace(), n)
	case algorithm.AlltoallAll:
		x.steps.AlltoallAll(x.schedulePlace(), &from, &to, saved)
	default:
		x.steps.AlltoallPairs(x.schedulePlace(), &from, &to, saved)
	}
	return nil
}

// chooseAlltoallv is chooseAlltoall for parts of different lengths.
func (x *Call) chooseAlltoallv(sent, received *argument.Parts) error {
	send, recv := &x.buf[schedule.In], &x.buf[schedule.Out]
	lr, err := x.layout("receive", recv.len, received, true)
	if err != nil {
		return err
	}
	ls, in, saved := lr, schedule.In, 0
	if argument.IsInPlace(send.mem) {
		in, saved = schedule.Work, len(recv.mem)
	} else if ls, err = x.layout("send", send.len, sent, false); err != nil {
		return err
	}
	if err := x.apart(send.mem, recv.mem); err != nil {
		return err
	}
	if ls.counts[x.rank] != lr.counts[x.rank] {
		return x.callErrorf(sentinel.ErrCount, "to itself the rank sends %d elements and receives %d",
			ls.counts[x.rank], lr.counts[x.rank])
	}
	x.takeAlgorithm(algorithm.Alltoallv, 0)
	x.fresh(algorithm.Alltoallv).AlltoallPairs(x.schedulePlace(), ls.partsOf(in, send.size),
		lr.partsOf(schedule.Out, recv.size), saved)
	return nil
}

// shmAlltoall is for parts of n bytes. What is in place would be overwritten before it has left.
func (x *Call) shmAlltoall(n int, inPlace bool) algorithm.Algorithm {
	switch {
	case !x.canUseShm():
		return byMessages
	case n*x.size <= shmcoll.Short:
		return algorithm.ShmAlltoall
	case inPlace:
		return byMessages
	case n >= algorithm.ShmGets && x.st.shared.gets:
		return algorithm.ShmAlltoallParts
	}
	return algorithm.ShmAlltoallLong
}
