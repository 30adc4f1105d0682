package mpi

// HintPeers announces that up to bytes bytes of messages at a time will go from this rank to each of the given ranks
// of c. The receive space for them can then be lent in advance, so the first sends need not wait for it. It is a
// hint: ranks lend what they have, and unused space returns. It does nothing if loans do not follow demand
// (GOLCI_FLOWCONTROL). It does not block. Errors: ErrRank, ErrCount, ErrComm, ErrFinalized, ErrAborted.
func (c *Comm) HintPeers(bytes int, ranks ...int) error { return c.core().HintPeers(bytes, ranks...) }
