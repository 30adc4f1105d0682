package mpi

// Barrier waits until all ranks of c have called it (6.3). It may switch threads. Errors: ErrComm, ErrConcurrent,
// ErrMismatch, ErrCollective, ErrFinalized, ErrAborted, ErrPeer.
func (c *Comm) Barrier() error {
	x, err := c.begin("Barrier", nil, false)
	if err != nil {
		return err
	}
	return x.finish(x.barrier(0))
}

func (x *coll) barrier(int) error {
	if x.plan(wayBarrier, 0, contribution{}) {
		x.steps.Barrier(x.place())
	}
	return nil
}

// lastBarrier is the barrier of Finalize. It is no numbered call, so that it works when collectives have failed.
func (c *Comm) lastBarrier() error {
	if err := c.usable("Finalize"); err != nil {
		return err
	}
	x := &coll{c: c, st: c.coll, kind: "Finalize", way: wayFinalize, rank: c.rank, size: len(c.group)}
	x.tag = collTag(x.size, wayFinalize, 0, 0)
	x.lastTag = x.tag
	x.fresh(wayFinalize).Barrier(x.place())
	return x.perform()
}
