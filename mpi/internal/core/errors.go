package core

import (
	"fmt"
	"slices"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// who describes the calling rank.
func (c *Comm) who() string { return fmt.Sprintf("rank %d of %d", c.rank, c.Size()) }

// peerText names a peer or a wildcard.
func peerText(rank int) string {
	switch rank {
	case AnySource:
		return "any rank"
	case ProcNull:
		return "the null process"
	}
	return fmt.Sprintf("rank %d", rank)
}

// peerText names a peer or a wildcard. It adds the rank in the world if that differs, because causes from lower
// layers name ranks of the world.
func (c *Comm) peerText(rank int) string {
	if uint(rank) < uint(len(c.group)) {
		return rankText(rank, int(c.group[rank]))
	}
	return peerText(rank)
}

// rankText names a rank of a communicator that has rank world in the world.
func rankText(rank, world int) string {
	switch {
	case rank == world:
		return peerText(rank)
	case rank < 0: // of another communicator
		return fmt.Sprintf("rank %d in world", world)
	}
	return fmt.Sprintf("rank %d (%d in world)", rank, world)
}

func tagText(tag int) string {
	if tag == AnyTag {
		return "any tag"
	}
	return fmt.Sprintf("tag %d", tag)
}

// commErrorf is an error of the function what on this rank. The format goes on after ": " or ", ".
func (c *Comm) commErrorf(what, format string, args ...any) error {
	return fmt.Errorf("mpi: %s: %s"+format, append([]any{what, c.who()}, args...)...)
}

// checkUsable tells why no operation can start on c: there is none, it is freed, or the rank has ended.
func (c *Comm) checkUsable(what string) error {
	if err := c.there(what); err != nil {
		return err
	}
	if c.Revoked() {
		return c.commErrorf(what, ": %w", errs.Revoked)
	}
	return nil
}

// there tells why nothing can be asked of c. A revoked communicator answers what needs no message.
func (c *Comm) there(what string) error {
	switch {
	case c == nil || c.proc == nil:
		return fmt.Errorf("mpi: %s: %w: nil", what, sentinel.ErrComm)
	case c.origin().Freed.Load() && c.origin().revocation.state.Load() != revoked:
		return c.commErrorf(what, ": %w: it has been freed", sentinel.ErrComm)
	}
	if err := c.proc.rank.Ended(); err != nil {
		return c.commErrorf(what, ": %w", err)
	}
	return nil
}

// Directions of a call, as errors name them.
const (
	Sending   = "to"
	Receiving = "from"
)

// Bad tells why a send, or a receive or probe, cannot start. It is nil for the null process, which takes any message of
// a valid type, and for wildcards of a receive.
func (c *Comm) Bad(what, direction string, typ error, peer, tag int) error {
	if err := c.checkUsable(what); err != nil {
		return err
	}
	recv := direction == Receiving
	switch {
	case typ != nil:
		return c.commErrorf(what, ", %s %s, %s: %w", direction, peerText(peer), tagText(tag), typ)
	case uint(tag) > TagUB && (!recv || tag != AnyTag):
		return c.commErrorf(what, ", %s %s: %w: %d is outside 0..%d", direction, peerText(peer), sentinel.ErrTag, tag,
			TagUB)
	case peer == ProcNull || uint(peer) < uint(len(c.group)) || recv && peer == AnySource:
		return nil
	case recv:
		return c.commErrorf(what, ", %s: %w: source %d", tagText(tag), sentinel.ErrRank, peer)
	case peer == AnySource:
		return c.commErrorf(what, ", tag %d: %w: AnySource is no destination", tag, sentinel.ErrRank)
	}
	return c.commErrorf(what, ", tag %d: %w: destination %d", tag, sentinel.ErrRank, peer)
}

// SendError dresses the error of a send of n bytes.
func (c *Comm) SendError(what string, dest, tag, n int, err error) error {
	return c.commErrorf(what, ", %d bytes to %s, %s: %w", n, c.peerText(dest), tagText(tag), c.cause(err))
}

// RecvError dresses the error of a receive into n bytes. If the error names the message, that goes before wildcards.
func (c *Comm) RecvError(what string, source, tag, n int, err error) error {
	if e, ok := err.(*comm.OpError); ok {
		source, tag = c.rankOf(e.Peer), e.Tag
	}
	return c.commErrorf(what, ", buffer of %d bytes, from %s, %s: %w", n, c.peerText(source), tagText(tag), c.cause(err))
}

// opError dresses the error of an operation whose arguments are not at hand any more: the error itself may name them.
func (c *Comm) opError(what string, err error) error {
	if e, ok := err.(*coll.CallError); ok {
		return e.Reported()
	}
	e, ok := err.(*comm.OpError)
	switch {
	case !ok:
		return c.commErrorf(what, ": %w", c.cause(err))
	case e.Send:
		return c.SendError(what, c.rankOf(e.Peer), e.Tag, int(e.Bytes), err)
	}
	return c.RecvError(what, c.rankOf(e.Peer), e.Tag, int(e.Bytes), err)
}

// cause is the reason in the error of an operation, without what names the operation.
func (c *Comm) cause(err error) error {
	if e, ok := err.(*comm.OpError); ok {
		err = e.Err
	}
	return c.inCause(c.proc.cause(err))
}

// rankOf translates a world rank, or AnySource.
func (c *Comm) rankOf(world int) int {
	if c.inverse == nil || world < 0 {
		return world
	}
	if world -= c.lowest; uint(world) >= uint(len(c.inverse)) {
		return -1
	}
	return int(c.inverse[world])
}

// peerOf translates a world rank to a place in peers.
func (c *Comm) peerOf(world int) int {
	if c.local == nil {
		return c.rankOf(world)
	}
	return slices.Index(c.peers, int32(world))
}

// Errorf is commErrorf, for the packages above.
func (c *Comm) Errorf(what, format string, args ...any) error {
	return c.commErrorf(what, format, args...)
}

// PeerText is peerText, for the packages above.
func PeerText(rank int) string { return peerText(rank) }

// The methods of Communicator that c has under other names.

// CheckUsable implements Communicator.
func (c *Comm) CheckUsable(what string) error { return c.checkUsable(what) }

// OpError implements Communicator.
func (c *Comm) OpError(what string, err error) error { return c.opError(what, err) }

// Cause implements Communicator.
func (c *Comm) Cause(err error) error { return c.cause(err) }

// Who implements Communicator.
func (c *Comm) Who() string { return c.who() }

// PeerOf implements Communicator.
func (c *Comm) PeerOf(world int) int { return c.peerOf(world) }

// IsFreed implements Communicator.
func (c *Comm) IsFreed() bool { return c.origin().Freed.Load() }

// Neighborhood implements Communicator.
func (c *Comm) Neighborhood() *schedule.Neighbours { return c.near() }
