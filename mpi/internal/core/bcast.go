package core

import (
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
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
	n := len(buf.mem)
	if b := x.shmBcast(n); b.do != nil {
		return x.overShm(b.alg, root, n, b.do)
	}
	w := algorithm.ChooseBcast(x.size, n, buf.len)
	switch {
	case !x.plan(w, root, contribution{bytes: n, elem: buf.size}):
	case w == algorithm.BcastRing:
		x.steps.BcastRing(x.schedulePlace(), root, buf.len, buf.size)
	default:
		x.steps.BcastTree(x.schedulePlace(), root, n)
	}
	return nil
}
