package rma

import (
	"errors"
	"fmt"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
)

// Errors that can be tested with errors.Is. What is returned wraps one of them, with the details in its text.
var (
	ErrRank       = conduit.ErrRank                        // a rank outside the job
	ErrPeer       = conduit.ErrPeer                        // the other rank has died
	ErrClosed     = conduit.ErrClosed                      // this Memory has been closed
	ErrConfig     = conduit.ErrConfig                      // a field of Config is out of range
	ErrBounds     = errors.New("rma: outside the segment") // bytes beyond the peer's segment
	ErrAlign      = errors.New("rma: offset not aligned")  // of an atomic: no multiple of its size
	ErrArgument   = errors.New("rma: bad argument")        // a length, counter, operation or description that cannot be
	ErrWouldBlock = errors.New("rma: would block")         // an immediate call that cannot begin at once
	ErrRegion     = errors.New("rma: access region")       // opened twice, closed without being open, or waited for inside
	ErrRegions    = errors.New("rma: too many regions")    // of one rank
	ErrRefused    = errors.New("rma: refused by the peer") // the peer's own check has failed
)

// allowCall refuses what must not be done in a handler, or with a handler-safe lock held: am.ErrContext or the lock's.
func (m *Memory) allowCall(c am.Call) error {
	if !m.e.Watched() {
		return nil
	}
	if err := m.e.Allow(c); err != nil {
		return fmt.Errorf("rma: %w", err)
	}
	return nil
}

func (m *Memory) rankError(peer int) error {
	return fmt.Errorf("%w: %d of %d", ErrRank, peer, len(m.peers))
}

func sizeError(peer, n int) error {
	return fmt.Errorf("%w: rank %d, value of %d bytes, want 1 to 8", ErrArgument, peer, n)
}
