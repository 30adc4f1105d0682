package core

import "github.com/golci/golci/internal/schedule"

// allgatherBruck is up to how many bytes in all an allgather doubles what it holds in each step, at the price of a
// copy; above, the parts go round a ring.
const allgatherBruck = 32 << 10

// Allgather gives all ranks the equal parts of all. Its argument is not used.
func (x *Call) Allgather(int) (err error) {
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

// Allgatherv is Allgather for parts of counts elements, which go to displs; nil displs puts one behind the other.
func (x *Call) Allgatherv(counts, displs []int) error {
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
