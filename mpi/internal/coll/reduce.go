package coll

import (
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/shmcoll"
)

// reduceWhole is up to how many bytes a vector travels in one message, for which a rank prepares when it wants it.
const reduceWhole = 8 << 10

// chooseReduce chooses how the In of all ranks are combined into the Out of root.
func (x *Call) chooseReduce(root int) error {
	if err := x.checkRoot(root); err != nil {
		return err
	}
	of, err := x.reduction(x.rank == root)
	if err != nil {
		return err
	}
	if w := x.shmReduce(of.bytes, of.elem); w.OverMemory() {
		return x.overShm(w, root, of.bytes)
	}
	w := algorithm.ChooseReduce(of.bytes)
	if x.plan(w, root, of) {
		x.steps.ReduceTree(x.schedulePlace(), root, segmented(of), of.inPlace)
	}
	if w == algorithm.ReduceParts {
		x.lastTag = x.tagged(algorithm.ReduceEnd, root)
	}
	return nil
}

// segmented are the lengths of a vector that travels in segments of whole elements.
func segmented(of contribution) schedule.Lengths {
	segment := max(1, algorithm.ReduceSegment/max(1, of.elem)) * of.elem
	return schedule.Lengths{N: of.bytes, Whole: min(reduceWhole, segment), Segment: segment}
}

// reduction checks what reductions have in common. result tells that the rank gets it.
func (x *Call) reduction(result bool) (contribution, error) {
	send, recv := &x.buf[schedule.In], &x.buf[schedule.Out]
	n, size := len(send.mem), send.size
	switch {
	case x.op.Combiner == nil:
		return contribution{}, x.callErrorf(sentinel.ErrOp, "the operation has no function")
	case !result:
		return contribution{n, size, false}, x.checkNotPlace("send", send.mem)
	case argument.IsInPlace(send.mem):
		*send = *recv
		return contribution{len(recv.mem), size, true}, x.checkNotPlace("receive", recv.mem)
	}
	if err := x.apart(send.mem, recv.mem); err != nil {
		return contribution{}, err
	}
	return contribution{n, size, false}, x.lengthFor("receive", recv.len, send.len)
}

// combineInto sets out to low op high.
func (x *Call) combineInto(out, low, high []byte) error {
	if x.op.User {
		return x.guarded(out, low, high)
	}
	x.op.Into(out, low, high)
	return nil
}

// guarded calls what may panic. The call then ends with an error, so that all that is under way ends, and the other
// ranks are told; after that the panic goes on. It cannot be so where the goroutine ends instead (runtime.Goexit).
func (x *Call) guarded(out, low, high []byte) (err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover()
		if v != nil {
			x.panic, err = v, x.callErrorf(sentinel.ErrOp, "the operation panics: %v", v)
			return
		}
		if x.scratch != nil {
			x.scratch.Lost = true
		}
		_ = x.endCall(x.callErrorf(sentinel.ErrOp, "the operation ends its goroutine"))
	}()
	x.op.Into(out, low, high)
	returned = true
	return nil
}

func (x *Call) shmReduce(n, elem int) algorithm.Algorithm {
	switch {
	case !x.canUseShm():
		return byMessages
	case n <= shmcoll.Short:
		return algorithm.ShmReduce
	case n >= algorithm.ShmReduceLeast && (n <= algorithm.ShmMostOfTwo || x.size > 2) &&
		elem*x.size <= shmcoll.ChunkBytes:
		return algorithm.ShmReduceLong
	}
	return byMessages
}
