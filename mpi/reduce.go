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
// ErrTruncate, ErrBuffer, and those of Barrier.
func Reduce[T any](c *Comm, send, recv []T, op Op[T], root int) error {
	_, err := reducing(c, "Reduce", send, recv, op, root, (*coll).reduce)
	return err
}

// reducing is blocking for a reduction. It gives the number of the call, too.
func reducing[T any](
	c *Comm, what string, send, recv []T, op Op[T], root int, f func(x *coll, root int) error,
) (call uint64, err error) {
	r := op.reducer()
	x, err := start[T](c, what, false)
	if err != nil {
		return 0, err
	}
	x.op, call = r, x.call
	return call, x.finish(f(take(x, send, recv), root))
}

func (x *coll) reduce(root int) error {
	if err := x.root(root); err != nil {
		return err
	}
	of, err := x.reduction(x.rank == root)
	if err != nil {
		return err
	}
	w := wayReduceTree
	if of.bytes > reduceSegment {
		w = wayReduceParts
	}
	if x.plan(w, root, of) {
		segment := max(1, reduceSegment/max(1, of.elem)) * of.elem
		x.steps.ReduceTree(x.place(), root, schedule.Lengths{N: of.bytes, Whole: min(reduceWhole, segment), Segment: segment}, of.inPlace)
	}
	if w == wayReduceParts {
		x.lastTag = collTag(x.size, wayReduceEnd, root, x.call)
	}
	return nil
}

// reduction checks what reductions have in common. result tells that the rank gets it.
func (x *coll) reduction(result bool) (contribution, error) {
	send, recv := &x.buf[schedule.In], &x.buf[schedule.Out]
	n, size := len(send.mem), send.size
	switch {
	case x.op.combiner == nil:
		return contribution{}, x.errorf(ErrOp, "the operation has no function")
	case !result:
		return contribution{n, size, false}, x.notPlace("send", send.mem)
	case inPlace(send.mem):
		*send = *recv
		return contribution{len(recv.mem), size, true}, x.notPlace("receive", recv.mem)
	}
	if err := x.apart(send.mem, recv.mem); err != nil {
		return contribution{}, err
	}
	return contribution{n, size, false}, x.lengthFor("receive", recv.len, send.len)
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
