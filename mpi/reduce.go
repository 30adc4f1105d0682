package mpi

import "github.com/golci/golci/internal/schedule"

// reduceSegment is how many bytes of a long vector travel in one message of a reduction. One segment is combined, out
// of the cache, while the next is on its way.
const reduceSegment = 128 << 10

// reduceWhole is up to how many bytes a vector travels in one message, for which a rank prepares when it wants it.
const reduceWhole = 8 << 10

// Reduce combines send of all ranks with op, element by element, into recv of rank root (6.9.1). recv is used at root
// only and must be as long as send there, or longer, and must not overlap it. send of root may be InPlace: recv then
// holds what it contributes. It waits, and may switch threads. Errors: ErrRoot, ErrOp, ErrType, ErrCount,
// ErrTruncate, ErrBuffer, ErrComm, ErrConcurrent, ErrMismatch, ErrCollective, ErrFinalized, ErrAborted, ErrPeer.
func Reduce[T any](c *Comm, send, recv []T, op Op[T], root int) error {
	return reduceAs(c, kindReduce, send, recv, op, root)
}

// reduceAs is Reduce for a collective of kind k.
func reduceAs[T any](c *Comm, k kind, send, recv []T, op Op[T], root int) error {
	f := op.reducer()
	x, err := start[T](c, k)
	if err != nil {
		return err
	}
	x.op = f
	return x.finish(take(x, send, recv).reduce(root))
}

func (x *coll) reduce(root int) error {
	if err := x.root(root); err != nil {
		return err
	}
	p, err := x.reduction(wayReduceTree, root, x.rank == root)
	if err != nil {
		return err
	}
	if p.bytes <= reduceSegment {
		x.take(p.way, root)
	} else {
		p.way = wayReduceParts
		x.take(p.way, root)
		x.lastTag = collTag(x.size, wayReduceEnd, root, x.call)
	}
	if x.unplanned(p) {
		segment := max(1, reduceSegment/max(1, p.size)) * p.size
		x.steps.ReduceTree(x.place(), root, schedule.Lengths{N: p.bytes, Whole: min(reduceWhole, segment), Segment: segment}, p.inPlace)
	}
	return nil
}

// reduction checks what reductions have in common. result tells that the rank gets it.
func (x *coll) reduction(w way, root int, result bool) (p schedKey, err error) {
	send, recv := &x.buf[schedule.In], &x.buf[schedule.Out]
	p = schedKey{way: w, root: root, size: send.size}
	switch {
	case x.op.combiner == nil:
		return p, x.errorf(ErrOp, "the operation has no function")
	case !result:
		p.bytes = len(send.mem)
		return p, x.notPlace("send", send.mem)
	case inPlace(send.mem):
		*send, p.inPlace, p.bytes = *recv, true, len(recv.mem)
		return p, x.notPlace("receive", recv.mem)
	}
	p.bytes = len(send.mem)
	if err := x.apart(send.mem, recv.mem); err != nil {
		return p, err
	}
	return p, x.lengthFor("receive", recv.len, send.len)
}

// combine sets out to low op high.
func (x *coll) combine(out, low, high []byte) error {
	if x.op.user {
		return x.guarded(out, low, high)
	}
	x.op.into(out, low, high)
	return nil
}

// guarded calls what may panic. The call then ends with an error, so that all that is under way ends, and the other
// ranks are told; after that the panic goes on. It cannot be so where the goroutine ends instead (runtime.Goexit).
func (x *coll) guarded(out, low, high []byte) (err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover()
		if v != nil {
			x.panic, err = v, x.errorf(ErrOp, "the operation panics: %v", v)
			return
		}
		if x.scratch != nil {
			x.scratch.lost = true
		}
		_ = x.end(x.errorf(ErrOp, "the operation ends its goroutine"))
	}()
	x.op.into(out, low, high)
	returned = true
	return nil
}
