package mpi

// Barrier waits until all ranks of c have called it (6.3). It may switch threads. It is a dissemination: in round k a rank
// tells the one 2^k further. Errors: ErrComm, ErrFinalized, ErrAborted, ErrPeer.
func (c *Comm) Barrier() error { return c.barrier("Barrier") }

func (c *Comm) barrier(what string) error {
	x, err := c.begin(what, tagBarrier, nil)
	if err != nil {
		return err
	}
	for d := 1; d < x.size; d *= 2 {
		if err := x.exchange((x.rank+d)%x.size, nil, (x.rank-d+x.size)%x.size, nil); err != nil {
			return err
		}
	}
	return nil
}
