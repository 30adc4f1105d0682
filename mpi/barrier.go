package mpi

// Barrier waits until all ranks of c have called it (6.3). It may switch threads. Errors: ErrComm, ErrConcurrent,
// ErrMismatch, ErrCollective, ErrFinalized, ErrAborted, ErrPeer.
func (c *Comm) Barrier() error {
	x, err := c.begin(kindBarrier, nil)
	if err != nil {
		return err
	}
	x.take(wayBarrier, 0)
	return x.end(x.disseminate())
}

// disseminate: in round k a rank tells the one 2^k further.
func (x *coll) disseminate() error {
	for d := 1; d < x.size; d *= 2 {
		if err := x.exchange(x.after(d), nil, x.before(d), nil); err != nil {
			return err
		}
	}
	return nil
}

// lastBarrier is the barrier of Finalize. It is no numbered call, so that it works when collectives have failed.
func (c *Comm) lastBarrier() error {
	if err := c.usable("Finalize"); err != nil {
		return err
	}
	x := &coll{c: c, st: c.coll, kind: kindFinalize, way: wayFinalize, rank: c.rank, size: len(c.group)}
	x.tag = collTag(x.size, wayFinalize, 0, 0)
	x.use = x.tag
	return x.disseminate()
}
