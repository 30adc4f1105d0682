package core

import "github.com/golci/golci/mpi/internal/sentinel"

// HintPeers announces that up to bytes bytes of messages at a time will go from this rank to each of the given ranks
// of c. The receive space for them can then be lent in advance, so the first sends need not wait for it. It is a
// hint: ranks lend what they have, and unused space returns. It does nothing if loans do not follow demand
// (GOLCI_FLOWCONTROL). It does not block. Errors: ErrRank, ErrCount, ErrComm, ErrFinalized, ErrAborted.
func (c *Comm) HintPeers(bytes int, ranks ...int) error {
	if err := c.checkUsable("HintPeers"); err != nil {
		return err
	}
	if bytes < 0 {
		return c.commErrorf("HintPeers", ": %w: %d bytes", sentinel.ErrCount, bytes)
	}
	for _, r := range ranks {
		if uint(r) >= uint(len(c.group)) {
			return c.commErrorf("HintPeers", ": %w: %d", sentinel.ErrRank, r)
		}
	}
	for _, r := range ranks {
		c.proc.rank.Hint(1, bytes, int(c.group[r]))
	}
	return nil
}
