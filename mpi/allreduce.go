package mpi

import "github.com/golci/golci/internal/schedule"

// Allreduce is Reduce whose result all ranks get, into recv, which must be as long as send or longer, and must not
// overlap it; send may be InPlace (6.9.6). It waits, and may switch threads. Short vectors, and operations that are
// not commutative, go by recursive doubling; long ones round a ring, each rank combining its share. Errors: ErrOp,
// ErrType, ErrCount, ErrTruncate, ErrBuffer, ErrComm, ErrConcurrent, ErrMismatch, ErrCollective, ErrFinalized,
// ErrAborted, ErrPeer.
func Allreduce[T any](c *Comm, send, recv []T, op Op[T]) error {
	_, err := allreduceAs(c, kindAllreduce, send, recv, op)
	return err
}

// allreduceAs is Allreduce for a collective of kind k. It gives the number of the call, too.
func allreduceAs[T any](c *Comm, k kind, send, recv []T, op Op[T]) (uint64, error) {
	f := op.reducer()
	x, err := start[T](c, k)
	if err != nil {
		return 0, err
	}
	call := x.call
	x.op = f
	return call, x.finish(take(x, send, recv).allreduce())
}

func (x *coll) allreduce() error {
	p, err := x.reduction(wayAllreduceSwap, 0, true)
	if err != nil {
		return err
	}
	send := &x.buf[schedule.In]
	if x.op.commute && x.large(send) {
		p.way = wayAllreduceRing
	}
	x.take(p.way, 0)
	switch {
	case !x.unplanned(p):
	case p.way == wayAllreduceRing:
		x.steps.AllreduceShares(x.place(), send.len, send.size)
	default:
		x.steps.AllreduceDoubling(x.place(), p.bytes, p.inPlace)
	}
	return nil
}

// A commutative reduction of more bytes than this has each rank combine its share. Two ranks move as many bytes in
// either way, so they swap whole vectors for longer: that is one exchange in place of two.
const (
	reduceLarge = 64 << 10
	reducePair  = 512 << 10
)

func (x *coll) large(v *elems) bool {
	most := reduceLarge
	if x.size == 2 {
		most = reducePair
	}
	return len(v.mem) > most && v.len >= x.size && x.size > 1
}
