package mpi

import (
	"errors"

	"github.com/golci/golci/mpi/internal/errs"
)

// Errors of windows, to be tested with errors.Is.
var (
	ErrWin       error = errs.Win       // no window, or one that has been freed
	ErrSize      error = errs.Size      // a window of a negative or too large size
	ErrDisp      error = errs.Disp      // a negative displacement
	ErrMode      error = errs.Assert    // a mode that the call does not know
	ErrLockType  error = errs.LockType  // neither LockShared nor LockExclusive
	ErrRMASync   error = errs.RMASync   // a call that the epoch does not allow
	ErrRMARange  error = errs.RMARange  // memory that the target does not have in the window
	ErrRMAAttach error = errs.RMAAttach // memory that cannot be attached or detached
	ErrRMAShared error = errs.RMAShared // ranks that do not share memory
	ErrRMAFlavor error = errs.RMAFlavor // a call that is not for windows of this kind
)

// winSentinels are the errors of this package for classes that are not told by their class.
var winSentinels = map[errs.Class]error{
	errs.Buffer:      ErrBuffer,
	errs.Count:       ErrCount,
	errs.Type:        ErrType,
	errs.Rank:        ErrRank,
	errs.Op:          ErrOp,
	errs.Arg:         ErrArgument,
	errs.Truncate:    ErrTruncate,
	errs.NoMem:       ErrMemory,
	errs.Comm:        ErrComm,
	errs.ProcAborted: ErrPeer,
}

// windowError is an error of a window that is also one of this package.
type windowError struct {
	error
	also error
}

// Unwrap gives both.
func (e windowError) Unwrap() []error { return []error{e.error, e.also} }

// winError gives an error of a window the error of this package that stands for its class.
func winError(err error) error {
	if err == nil { // without the memory that errors.As takes
		return nil
	}
	return classed(err)
}

func classed(err error) error {
	var class errs.Class
	if !errors.As(err, &class) {
		return err
	}
	if also := winSentinels[class]; also != nil {
		return windowError{err, also}
	}
	return err
}
