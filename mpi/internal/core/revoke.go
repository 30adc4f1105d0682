package core

import (
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/mpi/internal/notice"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// revocation is how far the end of a communicator has come that Revoke began.
type revocation struct{ state atomic.Int32 }

const (
	notRevoked   = iota
	revoked      // its operations end with errs.Revoked
	revokedFreed // and the program has freed it
)

// Revoked reports whether the communicator has been revoked, as far as this rank knows.
func (c *Comm) Revoked() bool {
	return c != nil && c.proc != nil && c.origin().revocation.state.Load() != notRevoked
}

// NowRevoked is Revoked for a program, which may ask again and again and do nothing else: it makes progress.
func (c *Comm) NowRevoked() bool {
	if !c.Revoked() && c != nil && c.proc != nil {
		c.Srv.Poll()
	}
	return c.Revoked()
}

// Revoke ends the use of c on all its ranks. The caller does not wait. Operations that are under way, and later ones,
// end with errs.Revoked, but those of faults.go. The first rank to hear of it tells all others, so that no death of a
// rank keeps the news from any. Errors: ErrComm.
func (c *Comm) Revoke() error {
	const what = "Revoke"
	if c == nil || c.proc == nil {
		return c.checkUsable(what)
	}
	c = c.origin()
	if err := c.proc.rank.Ended(); err != nil {
		return c.commErrorf(what, ": %w", err)
	}
	if c.Freed.Load() && !c.Revoked() {
		return c.checkUsable(what)
	}
	c.revoke(false, nil)
	return nil
}

// revoke is Revoke of a communicator that is not freed. inPoll: the caller is the poller.
func (c *Comm) revoke(inPoll bool, w *fult.Worker) {
	if !c.revocation.state.CompareAndSwap(notRevoked, revoked) {
		return
	}
	if c.Freed.Swap(true) { // which takes operations off the direct path
		c.revocation.state.Store(revokedFreed)
		return
	}
	for i, r := range c.peers {
		if int(r) != c.proc.rank.Rank() {
			c.Srv.Notify(int(c.peers[i]), [4]uint64{c.coll.UID, 0, uint64(c.rank)<<32 | notice.Revoked, 0}, "")
		}
	}
	c.coll.EndAll(&sentinel.CollectiveError{Rank: c.rank, Kind: "Revoke", Err: errs.Revoked}, w)
	c.Srv.Revoke(inPoll, w, c.Ctx, c.collCtx)
}

// inCause puts errs.Revoked in the place of the error with which an operation on a revoked communicator has ended.
func (c *Comm) inCause(err error) error {
	if c.Revoked() {
		return fmt.Errorf("%w (%v)", errs.Revoked, err)
	}
	return err
}

// freeRevoked notes that the program frees a revoked communicator; false if it is none, or has been freed.
func (c *Comm) freeRevoked() bool {
	return c.origin().revocation.state.CompareAndSwap(revoked, revokedFreed)
}
