package core

import "github.com/golci/golci/internal/schedule"

// Above bcastLarge bytes, among at least bcastRanks ranks, a broadcast scatters the parts and has the ranks pass them
// round a ring, so that no rank sends the whole more than twice; below, a binomial tree has fewer steps.
const (
	bcastLarge = 128 << 10
	bcastRanks = 4
)

// Bcast gives all ranks the Out of root.
func (x *Call) Bcast(root int) error {
	buf := &x.buf[schedule.Out]
	if err := x.root(root); err != nil {
		return err
	}
	if err := x.NotPlace("broadcast", buf.mem); err != nil {
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
