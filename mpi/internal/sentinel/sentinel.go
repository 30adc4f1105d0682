// Package sentinel has the errors that programs test with errors.Is, and those that collectives tell each other.
package sentinel

import (
	"errors"
	"fmt"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/rank"
)

// Errors, to be tested with errors.Is. The text of an error names the function, the rank that called it, and peer, tag
// and sizes where there are any.
var (
	ErrRank      = comm.ErrRank      // a rank outside the communicator
	ErrTag       = comm.ErrTag       // a tag outside 0..TagUB, or a wildcard where none is allowed
	ErrTruncate  = comm.ErrTruncate  // a message longer than the buffer for it
	ErrPeer      = comm.ErrPeer      // the other rank has died
	ErrRequest   = comm.ErrRequest   // a request or message handle that has been used up
	ErrCancelled = comm.ErrCancelled // the operation was cancelled before it was matched
	ErrPending   = comm.ErrPending   // operations that have not ended
	ErrMemory    = comm.ErrMemory    // a message larger than this process may allocate
	ErrAssert    = comm.ErrAssert    // a promise made by DupWith is broken

	ErrComm      = errors.New("invalid communicator")
	ErrCount     = errors.New("invalid count")
	ErrType      = comm.ErrType // elements that cannot travel, or that the receiver takes for others
	ErrRoot      = errors.New("invalid root")
	ErrOp        = errors.New("invalid reduction")
	ErrBuffer    = comm.ErrBuffer
	ErrArgument  = rank.ErrArgument
	ErrContexts  = errors.New("no context left for another communicator")
	ErrThread    = rank.ErrThread
	ErrFinalized = rank.ErrFinalized
	ErrAborted   = rank.ErrAborted
	ErrRevoked   = errs.Revoked // the communicator has been revoked

	// Of collectives; CollectiveError tells more of the first.
	ErrCollective = errors.New("collectives on the communicator have ended")
	ErrMismatch   = errors.New("ranks have called different collectives")
	ErrConcurrent = errors.New("another collective is running on the communicator")
)

// ErrFailedPending is the error of a receive or probe from any source while a rank of its communicator has died and
// the program has not acknowledged that: the message may be one that never comes (ULFM, MPIX_ERR_PROC_FAILED_PENDING).
var ErrFailedPending error = errs.ProcFailedPending

// ErrElements is for ranks whose elements differ.
var ErrElements = fmt.Errorf("%w: %w", ErrMismatch, ErrType)
