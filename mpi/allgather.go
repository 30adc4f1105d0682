package mpi

import "github.com/golci/golci/internal/schedule"

// allgatherBruck is up to how many bytes in all an allgather doubles what it holds in each step, at the price of a
// copy; above, the parts go round a ring.
const allgatherBruck = 32 << 10

// Allgather is Gather whose result all ranks get (6.7). recv must have room for size times len(send) elements. send
// may be InPlace: the own part then lies in its place in recv, which must be exactly as long as all parts. It waits,
// and may switch threads. Errors: ErrType, ErrCount, ErrTruncate, ErrBuffer, and those of Barrier.
func Allgather[T any](c *Comm, send, recv []T) error {
	return blocking(c, "Allgather", send, recv, 0, (*coll).allgather)
}

func (x *coll) allgather(int) (err error) {
	send, recv := &x.buf[schedule.In], &x.buf[schedule.Out]
	own := inPlace(send.mem)
	if send.mem, err = x.equalOwn(send.mem, recv.mem, "receive", send.size); err != nil {
		return err
	}
	n, w := len(send.mem), wayAllgatherRing
	if n*x.size <= allgatherBruck && x.size > 2 {
		w = wayAllgatherSteps
	}
	switch {
	case !x.plan(w, 0, contribution{bytes: n, inPlace: own}):
	case w == wayAllgatherSteps:
		x.steps.AllgatherSteps(x.place(), n, own)
	default:
		x.steps.AllgatherRing(x.place(), &schedule.Parts{Buf: schedule.Out, Each: n}, own)
	}
	return nil
}

// Allgatherv is Allgather for parts of different lengths: that of rank i has counts[i] elements, the same on all
// ranks, and goes to recv[displs[i]:] (6.7). nil displs puts the parts one behind the other. send may be InPlace.
// Errors as for Allgather.
func Allgatherv[T any](c *Comm, send, recv []T, counts, displs []int) error {
	return blocking(c, "Allgatherv", send, recv, 0, func(x *coll, _ int) error { return x.allgatherv(counts, displs) })
}

func (x *coll) allgatherv(counts, displs []int) error {
	send, recv := &x.buf[schedule.In], &x.buf[schedule.Out]
	l, err := x.layout("receive", recv.len, counts, displs, true)
	if err != nil {
		return err
	}
	own := inPlace(send.mem)
	if send.mem, err = x.partOwn(send.mem, recv.mem, l, "send", send.size); err != nil {
		return err
	}
	x.take(wayAllgatherv, 0)
	x.fresh(wayAllgatherv).AllgatherRing(x.place(), l.parts(schedule.Out, recv.size), own)
	return nil
}
