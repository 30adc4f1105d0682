package core

import "github.com/golci/golci/internal/schedule"

// Allreduce combines the In of all ranks into the Out of all. Its argument is not used.
func (x *Call) Allreduce(int) error {
	of, err := x.reduction(true)
	if err != nil {
		return err
	}
	send, w := &x.buf[schedule.In], wayAllreduceSwap
	if x.op.Commutes && x.large(send) {
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
	ReduceLarge = 64 << 10
	ReducePair  = 512 << 10
)

func (x *Call) large(v *buffer) bool {
	most := ReduceLarge
	if x.size == 2 {
		most = ReducePair
	}
	return len(v.mem) > most && v.len >= x.size && x.size > 1
}
