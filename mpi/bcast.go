package mpi

import "github.com/golci/golci/internal/schedule"

// Above bcastLarge bytes, among at least bcastRanks ranks, a broadcast scatters the parts and has the ranks pass them
// round a ring, so that no rank sends the whole more than twice; below, a binomial tree has fewer steps.
const (
	bcastLarge = 128 << 10
	bcastRanks = 4
)

// Bcast sends buf of rank root to all ranks of c, into their buf, which must be equally long (6.4). It waits, and
// may switch threads. Errors: ErrRoot, ErrType, ErrCount or ErrTruncate where lengths differ, and those of Barrier.
func Bcast[T any](c *Comm, buf []T, root int) error {
	return blocking(c, "Bcast", nil, buf, root, (*coll).bcast)
}

func (x *coll) bcast(root int) error {
	buf := &x.buf[schedule.Out]
	if err := x.root(root); err != nil {
		return err
	}
	if err := x.notPlace("broadcast", buf.mem); err != nil {
		return err
	}
	n, w := len(buf.mem), wayBcastTree
	if n > bcastLarge && x.size >= bcastRanks && buf.len >= x.size {
		w = wayBcastRing
	}
	switch {
	case !x.plan(w, root, contribution{bytes: n, elem: buf.size}):
	case w == wayBcastRing:
		x.steps.BcastRing(x.place(), root, buf.len, buf.size)
	default:
		x.steps.BcastTree(x.place(), root, n)
	}
	return nil
}
