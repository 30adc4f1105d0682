package mpi

// Barrier waits until all ranks of c have called it (6.3). It may switch threads. Errors: ErrComm, ErrConcurrent,
// ErrMismatch, ErrCollective, ErrFinalized, ErrAborted, ErrPeer.
func (c *Comm) Barrier() error { return c.core().Barrier() }
