package mpi

// Revoke ends the use of c on all its ranks, after a failure that only some of them have noticed (ULFM,
// MPIX_Comm_revoke). It does not wait, and one rank calls it for all. Operations on c that are under way, and later
// ones, end with ErrRevoked on each rank as soon as it hears of it. Agree, Shrink, GetFailed, AckFailed and Free still
// work. Errors: ErrComm, ErrFinalized, ErrAborted.
func (c *Comm) Revoke() error { return c.core().Revoke() }

// Revoked reports whether this rank knows that c has been revoked (ULFM, MPIX_Comm_is_revoked). It is local, and makes
// progress.
func (c *Comm) Revoked() bool { return c.core().NowRevoked() }

// Shrink makes a communicator of the living ranks of c, in their order (ULFM, MPIX_Comm_shrink). All of them call it;
// it waits for them, and may switch threads. They agree on who is living, so the group is the same on all. A rank may
// die after that. Errors: ErrComm, ErrContexts, ErrConcurrent; ErrPeer on a rank that the others take for dead.
func (c *Comm) Shrink() (*Comm, error) {
	d, err := c.core().Shrink()
	return (*Comm)(d), err
}

// Ishrink is Shrink that does not wait (MPIX_Comm_ishrink). The communicator may be used when the request is done. No
// other agreement on c may begin before. Errors: ErrComm; the others come with the request.
func (c *Comm) Ishrink() (*Comm, Request, error) {
	d, r, err := c.core().Ishrink()
	return (*Comm)(d), Request(r), err
}

// Agree gives all living ranks of c the same word: the bitwise and of the flags of the callers (ULFM, MPIX_Comm_agree).
// All living ranks call it, and it waits for them, whoever dies meanwhile. It may switch threads. Errors: ErrPeer, on
// all ranks alike and with the word, if a rank has died whose death not all callers had acknowledged by AckFailed;
// ErrConcurrent while another agreement on c runs; ErrComm.
func (c *Comm) Agree(flag uint64) (uint64, error) { return c.core().Agree(flag) }

// Iagree is Agree that does not wait (MPIX_Comm_iagree). flag points at this rank's flag, and when the request is done
// at the word of all. It must not be touched between. Errors as for Agree; ErrPeer comes with the request.
func (c *Comm) Iagree(flag *uint64) (Request, error) {
	r, err := c.core().Iagree(flag)
	return Request(r), err
}

// GetFailed lists the ranks of c that are known here to have died, in the order in which this rank has learned of them
// (ULFM, MPIX_Comm_get_failed). It is local, and makes progress. Error: ErrComm.
func (c *Comm) GetFailed() ([]int, error) { return c.core().Failures() }

// AckFailed acknowledges the deaths of the first n ranks that GetFailed lists, and gives how many are acknowledged now
// (ULFM, MPIX_Comm_ack_failed). Receives from any source on c wait again. It is local. Errors: ErrArgument for a
// negative n; ErrComm.
func (c *Comm) AckFailed(n int) (int, error) { return c.core().AckFailed(n) }
