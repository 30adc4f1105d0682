package mpi

import "github.com/golci/golci/internal/schedule"

// Above bcastLarge bytes, among at least bcastRanks ranks, a broadcast scatters the parts and has the ranks pass them
// round a ring, so that no rank sends the whole more than twice; below, a binomial tree has fewer steps.
const (
	bcastLarge = 128 << 10
	bcastRanks = 4
)

// Bcast sends buf of rank root to all ranks of c, into their buf, which must be equally long (6.4). It waits, and
// may switch threads. Errors: ErrRoot, ErrType, ErrCount or ErrTruncate where lengths differ, ErrComm,
// ErrConcurrent, ErrMismatch, ErrCollective, ErrFinalized, ErrAborted, ErrPeer.
func Bcast[T any](c *Comm, buf []T, root int) error {
	return bcastAs(c, kindBcast, buf, root)
}

// bcastAs is Bcast for a collective of kind k.
func bcastAs[T any](c *Comm, k kind, buf []T, root int) error {
	x, err := start[T](c, k)
	if err != nil {
		return err
	}
	return x.finish(takeBuf(x, buf).bcast(root))
}

func (x *coll) bcast(root int) error {
	buf := &x.buf[schedule.Out]
	if err := x.root(root); err != nil {
		return err
	}
	if err := x.notPlace("broadcast", buf.mem); err != nil {
		return err
	}
	p := schedKey{way: wayBcastTree, root: root, bytes: len(buf.mem), size: buf.size}
	if p.bytes > bcastLarge && x.size >= bcastRanks && buf.len >= x.size {
		p.way = wayBcastRing
	}
	x.take(p.way, root)
	switch {
	case !x.unplanned(p):
	case p.way == wayBcastRing:
		x.steps.BcastRing(x.place(), root, buf.len, buf.size)
	default:
		x.steps.BcastTree(x.place(), root, p.bytes)
	}
	return nil
}
