package conduit

import (
	"errors"
	"fmt"
)

// Errors that mean the same in every layer. The layers above give them under their own names.
var (
	// ErrRank means that a rank is outside the job, or outside the communicator.
	ErrRank = errors.New("invalid rank")
	// ErrPeer means that another rank can no longer be reached. A *PeerError gives the reason.
	ErrPeer = errors.New("peer failed")
	// ErrClosed means that this rank has ended its own communication.
	ErrClosed = errors.New("communication has ended")
	// ErrConfig means that a field of a configuration is out of range.
	ErrConfig = errors.New("bad configuration")
)

// Reasons of a PeerError.
var (
	// ErrPeerDied means that the peer's process ended without closing its conduit.
	ErrPeerDied = errors.New("peer died")
	// ErrPeerClosed means that the peer closed its conduit.
	ErrPeerClosed = errors.New("peer closed its conduit")
	// ErrCorrupt means that the peer wrote something impossible into shared memory, or sent it.
	ErrCorrupt = errors.New("peer broke the rules of the conduit")
	// ErrOverflow means that a request found no room in the receive space of the rank that it was for, although there
	// is room for all that credits pay for: flow control is off, or the sender spent credits that it did not have.
	ErrOverflow = errors.New("receive space overflowed")
	// ErrUnreachable means that this conduit does not lead to that rank.
	ErrUnreachable = errors.New("rank is not reachable through this conduit")
)

// PeerError tells which peer an error is about. It is an ErrPeer, unless this rank itself has ended its communication.
type PeerError struct {
	// Peer is the rank concerned.
	Peer int
	// Err is one of the reasons above, or ErrClosed.
	Err error
	// Detail says more, or is empty.
	Detail string
}

// Error implements error.
func (e *PeerError) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("rank %d: %v", e.Peer, e.Err)
	}
	return fmt.Sprintf("rank %d: %v: %s", e.Peer, e.Err, e.Detail)
}

// Is has errors.Is find ErrPeer.
func (e *PeerError) Is(target error) bool { return target == ErrPeer && e.Err != ErrClosed }

// Unwrap gives the reason, for errors.Is.
func (e *PeerError) Unwrap() error { return e.Err }
