package comm

import (
	"errors"
	"fmt"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/progress"
)

// Errors that can be tested with errors.Is. The text of each error names ranks, tag and sizes.
var (
	ErrRank      = conduit.ErrRank                    // a rank outside the job
	ErrTag       = errors.New("invalid tag")          // outside 0 to MaxTag, or a wildcard where none is allowed
	ErrContext   = errors.New("invalid context")      // above MaxContext
	ErrTruncate  = errors.New("message truncated")    // a message longer than the buffer for it
	ErrPeer      = conduit.ErrPeer                    // the other rank has died
	ErrClosed    = conduit.ErrClosed                  // this server has been closed
	ErrRequest   = errors.New("invalid request")      // a Req or Message that has been used up
	ErrCancelled = errors.New("operation cancelled")  // before it was matched
	ErrType      = errors.New("invalid element type") // elements of another signature than those of the receive
	ErrBuffer    = errors.New("invalid buffer")       // no Source or Target, or bytes changed while they were sent
	ErrPending   = progress.ErrPending                // an operation that cannot be ended now
	ErrMemory    = conduit.ErrGrant                   // a message larger than this process may allocate
	ErrProtocol  = errors.New("protocol fault")       // a peer sent what cannot be
	ErrAssert    = errors.New("broken assertion on the communicator")
)

// OpError is why an operation has failed, and which. errors.Is looks at Err.
type OpError struct {
	Send  bool  // else a receive
	Rank  int   // that called
	Peer  int   // a rank or AnySource
	Tag   int   // or AnyTag
	Bytes int64 // of the message of a send, of the buffer of a receive
	Err   error
}

// Error returns the cause, and then the operation.
func (e *OpError) Error() string {
	if e.Send {
		return fmt.Sprintf("%v (rank %d: send of %d bytes with tag %d to rank %d)", e.Err, e.Rank, e.Bytes, e.Tag, e.Peer)
	}
	return fmt.Sprintf("%v (rank %d: receive of up to %d bytes with tag %s from rank %s)", e.Err, e.Rank, e.Bytes, orAny(e.Tag), orAny(e.Peer))
}

func orAny(n int) string {
	if n < 0 {
		return "any"
	}
	return fmt.Sprint(n)
}

// Unwrap gives the cause.
func (e *OpError) Unwrap() error { return e.Err }

// MayWait returns an error where waiting would never end: in a handler of active messages. Its text names what the
// caller does.
func (s *Server) MayWait(what string) error { return s.mayWait(what, AnySource, AnyTag) }

// mayWait refuses to wait where that would never end: in a handler of active messages, which the caller's poll runs.
func (s *Server) mayWait(what string, peer, tag int) error {
	if !s.e.Watched() {
		return nil
	}
	if err := s.e.Allow(am.CallWait); err != nil {
		return fmt.Errorf("%s with rank %d, tag %d: %w", what, peer, tag, err)
	}
	return nil
}

// mayWaitFor is mayWait for an operation that has been started. What a wildcard stands for is not read: that changes
// when it is matched.
func (s *Server) mayWaitFor(o *op) error {
	peer, tag := AnySource, AnyTag
	if !o.wild {
		peer, tag = int(o.peer), int(o.tag)
	}
	return s.mayWait("wait for an operation", peer, tag)
}

// checkArgs validates the destination or source and the tag of an operation.
func (s *Server) checkArgs(what string, ctx uint16, peer, tag int, wild bool) error {
	switch {
	case s.closed.Load():
		return fmt.Errorf("%w: rank %d: %s", ErrClosed, s.rank, what)
	case uint(peer) >= uint(s.size) && (!wild || peer != AnySource):
		return fmt.Errorf("%w: rank %d: %s with rank %d of %d", ErrRank, s.rank, what, peer, s.size)
	case uint(tag) > MaxTag && (!wild || tag != AnyTag):
		return fmt.Errorf("%w: rank %d: %s with rank %d: tag %d is outside 0..%d", ErrTag, s.rank, what, peer, tag, MaxTag)
	case ctx > MaxContext:
		return fmt.Errorf("%w: rank %d: %s in context %d", ErrContext, s.rank, what, ctx)
	}
	return s.checkAssert(what, ctx, peer, tag)
}
