package conduit

import (
	"errors"
	"fmt"
)

// Errors that mean the same in every layer. The layers above give them under their own names.
var (
	ErrRank   = errors.New("invalid rank")            // outside the job, or the communicator
	ErrPeer   = errors.New("peer failed")             // cannot be reached any more; a *PeerError says why
	ErrClosed = errors.New("communication has ended") // that of this rank, by itself
	ErrConfig = errors.New("bad configuration")       // a field is out of range
)

// Reasons of a PeerError.
var (
	ErrPeerDied   = errors.New("peer died") // its process ended without closing its conduit
	ErrPeerClosed = errors.New("peer closed its conduit")
	ErrCorrupt    = errors.New("peer broke the rules of the conduit") // it wrote or sent something impossible
	// ErrOverflow means that a request found no room in the receive space of the rank that it was for, although there
	// is room for all that credits pay for: flow control is off, or the sender spent credits that it did not have.
	ErrOverflow    = errors.New("receive space overflowed")
	ErrUnreachable = errors.New("rank is not reachable through this conduit")
)

// PeerError tells which peer an error is about. It is an ErrPeer, unless this rank itself has ended its communication.
type PeerError struct {
	Peer   int    // the rank concerned
	Err    error  // one of the reasons above, or ErrClosed
	Detail string // says more, or is empty
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
