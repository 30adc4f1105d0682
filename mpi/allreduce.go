package mpi

import "github.com/golci/golci/internal/schedule"

// Allreduce is Reduce whose result all ranks get, into recv, which must be as long as send or longer, and must not
// overlap it; send may be InPlace (6.9.6). It waits, and may switch threads. Short vectors, and operations that are
// not commutative, go by recursive doubling; long ones round a ring, each rank combining its share. Errors: ErrOp,
// ErrType, ErrCount, ErrTruncate, ErrBuffer, and those of Barrier.
func Allreduce[T any](c *Comm, send, recv []T, op Op[T]) error {
	_, err := reducing(c, "Allreduce", send, recv, op, 0, (*coll).allreduce)
	return err
}

func (x *coll) allreduce(int) error {
	of, err := x.reduction(true)
	if err != nil {
		return err
	}
	send, w := &x.buf[schedule.In], wayAllreduceSwap
	if x.op.commute && x.large(send) {
		w = wayAllreduceRing
	}
	switch {
	case !x.plan(w, 0, of):
	case w == wayAllreduceRing:
		x.steps.AllreduceShares(x.place(), send.len, send.size)
	default:
		x.steps.AllreduceDoubling(x.place(), of.bytes, of.inPlace)
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
