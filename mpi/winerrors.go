package mpi

import "github.com/golci/golci/mpi/internal/errs"

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
