package mpi

import (
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/rank"
)

// Errors, to be tested with errors.Is. The text of an error names the function, the rank that called it, and peer, tag
// and sizes where there are any.
var (
	ErrRank     = sentinel.ErrRank     // a rank outside the communicator
	ErrTag      = sentinel.ErrTag      // a tag outside 0..TagUB, or a wildcard where none is allowed
	ErrTruncate = sentinel.ErrTruncate // a message longer than the buffer for it
	ErrPeer     = sentinel.ErrPeer     // the other rank has died
	ErrRevoked  = sentinel.ErrRevoked  // the communicator has been revoked

	// ErrFailedPending ends receives and probes from any source while a rank of the communicator has died whose death
	// Comm.AckFailed has not acknowledged on this rank (ULFM).
	ErrFailedPending = sentinel.ErrFailedPending

	ErrRequest   = sentinel.ErrRequest   // a request or message handle that has been used up
	ErrCancelled = sentinel.ErrCancelled // the operation was cancelled before it was matched
	ErrPending   = sentinel.ErrPending   // operations that have not ended
	ErrMemory    = sentinel.ErrMemory    // a message larger than this process may allocate
	ErrAssert    = sentinel.ErrAssert    // a promise made by DupWith is broken

	ErrComm            = sentinel.ErrComm
	ErrCount           = sentinel.ErrCount
	ErrType            = sentinel.ErrType // elements that cannot travel, or that the receiver takes for others
	ErrRoot            = sentinel.ErrRoot
	ErrOp              = sentinel.ErrOp
	ErrBuffer          = sentinel.ErrBuffer
	ErrArgument        = sentinel.ErrArgument
	ErrContexts        = sentinel.ErrContexts
	ErrThread          = sentinel.ErrThread
	ErrFinalized       = sentinel.ErrFinalized
	ErrGroup     error = errs.Group
	ErrTopology  error = errs.Topology // the communicator has no such topology
	ErrDims      error = errs.Dims     // dimensions that do not fit the number of ranks
	ErrKeyval    error = errs.Keyval   // a key of attributes that was freed
	ErrSession   error = errs.Session
	ErrSpawn     error = errs.Spawn   // processes cannot be started
	ErrPort      error = errs.Port    // no such port
	ErrName      error = errs.Name    // no such service
	ErrService   error = errs.Service // a service that is not published, or cannot be
	ErrAborted         = sentinel.ErrAborted

	// Of collectives; CollectiveError tells more of the first.
	ErrCollective = sentinel.ErrCollective
	ErrMismatch   = sentinel.ErrMismatch
	ErrConcurrent = sentinel.ErrConcurrent
)

// PanicError is what became of a rank of Run whose function panicked.
type PanicError = rank.PanicError

// ExitError says that a rank of Run has ended the job by Exit.
type ExitError = rank.ExitError

// CollectiveError tells why collectives on a communicator cannot continue: a call failed on one rank, so the ranks are
// out of step. From that call on all ranks get it. Its fields are Rank, of the communicator, where the call went wrong;
// Call, the number of the call on the communicator, from 1; Kind, the function, such as "Reduce"; and Err, what went
// wrong. It matches ErrCollective and its cause in errors.Is.
type CollectiveError = sentinel.CollectiveError
