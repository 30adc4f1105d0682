package core

import "github.com/golci/golci/internal/schedule"

// Allgather gives all ranks the equal parts of all. Its argument is not used.
func (x *Call) Allgather(int) (err error) {
	send, recv := &x.buf[schedule.In], &x.buf[schedule.Out]
	own := inPlace(send.mem)
	if send.mem, err = x.equalOwn(send.mem, recv.mem, "receive", send.size); err != nil {
		return err
	}
	if b := x.shmAllgather(len(send.mem)); b.do != nil {
		return x.overShm(b.alg, 0, len(send.mem), b.do)
	}
	n, w := len(send.mem), algAllgatherRing
	if allgathersInSteps(x.size, n*x.size) {
		w = algAllgatherSteps
	}
	switch {
	case !x.plan(w, 0, contribution{bytes: n, inPlace: own}):
	case w == algAllgatherSteps:
		x.steps.AllgatherSteps(x.schedulePlace(), n, own)
	default:
		x.steps.AllgatherRing(x.schedulePlace(), &schedule.Parts{Buf: schedule.Out, Each: n}, own)
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
	if parts := l.partsOf(schedule.Out, recv.size); allgathersInSteps(x.size, l.sumLengths()*recv.size) {
		x.takeAlgorithm(algAllgathervSteps, 0)
		x.fresh(algAllgathervSteps).AllgathervSteps(x.schedulePlace(), parts, own)
	} else {
		x.takeAlgorithm(algAllgatherv, 0)
		x.fresh(algAllgatherv).AllgatherRing(x.schedulePlace(), parts, own)
	}
	return nil
}
