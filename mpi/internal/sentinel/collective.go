package sentinel

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// CollectiveError tells why collectives on a communicator cannot continue: a call failed on one rank, so the ranks
// are out of step. From that call on all ranks get it. It matches ErrCollective and its cause in errors.Is.
type CollectiveError struct {
	Rank int    // of the communicator: where the call went wrong
	Call uint64 // its number on the communicator, from 1
	Kind string // the function, such as "Reduce"
	Err  error  // what went wrong
}

// Error names call, rank and reason.
func (e *CollectiveError) Error() string {
	return fmt.Sprintf("%v: %s, call %d, failed on rank %d: %v", ErrCollective, e.Kind, e.Call, e.Rank, e.Err)
}

// Is reports whether target is ErrCollective.
func (e *CollectiveError) Is(target error) bool { return target == ErrCollective }

// Unwrap gives what went wrong.
func (e *CollectiveError) Unwrap() error { return e.Err }

// reasons are the errors that a notice can name by number; 0 is any other.
var reasons = []error{
	nil, ErrElements, ErrCount, ErrTruncate, ErrType, ErrRoot, ErrOp, ErrBuffer, ErrMismatch, ErrPeer, ErrCancelled,
	ErrArgument,
	ErrContexts, context.DeadlineExceeded, context.Canceled, ErrMemory,
}

// ReasonNumber gives the number of the reason of err.
func ReasonNumber(err error) uint64 {
	i := slices.IndexFunc(reasons, func(r error) bool { return r != nil && errors.Is(err, r) })
	return uint64(max(i, 0))
}

// remoteError is what another rank has told of its error.
type remoteError struct {
	text   string
	reason error // one of reasons
}

// Error is the text of the other rank.
func (e *remoteError) Error() string { return e.text }

// Unwrap gives the reason, for errors.Is.
func (e *remoteError) Unwrap() error { return e.reason }

// NewRemoteError is the error of a rank that has told its text and the number of its reason.
func NewRemoteError(text string, number uint64) error {
	e := &remoteError{text: text}
	if number < uint64(len(reasons)) {
		e.reason = reasons[number]
	}
	return e
}
