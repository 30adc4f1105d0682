package sentinel

import (
	"errors"

	"github.com/golci/golci/mpi/internal/errs"
)

// classes is the table of errors: each that programs test for, beside the class of the standard that says the same. The
// first row that an error matches gives its class. So what a collective ended with goes before ErrCollective, which is
// only how the other ranks learn of it and has no class.
var classes = []struct {
	err   error
	class errs.Class
}{
	{ErrRevoked, errs.Revoked},
	{ErrFailedPending, errs.ProcFailedPending},
	{ErrBuffer, errs.Buffer},
	{ErrCount, errs.Count},
	{ErrType, errs.Type},
	{ErrTag, errs.Tag},
	{ErrComm, errs.Comm},
	{ErrRank, errs.Rank},
	{ErrRequest, errs.Request},
	{ErrRoot, errs.Root},
	{ErrOp, errs.Op},
	{ErrArgument, errs.Arg},
	{ErrTruncate, errs.Truncate},
	{ErrMemory, errs.NoMem},
	{ErrPeer, errs.ProcFailed},
	{ErrAborted, errs.ProcAborted},
	{ErrPending, errs.Pending},
}

// unclassed are the errors that programs test for and the standard has no class for.
var unclassed = []error{
	ErrCancelled, ErrAssert, ErrContexts, ErrThread, ErrFinalized, ErrMismatch, ErrConcurrent, ErrCollective,
}

// ofClass gives for a class the error of the table.
var ofClass = func() map[errs.Class]error {
	m := map[errs.Class]error{}
	for _, x := range classes {
		m[x.class] = x.err
	}
	return m
}()

// Class is the class of an error (9.4): by the table, or that which it wraps. An error of golci without a class is
// errs.Other, one of the program errs.Unknown.
func Class(err error) errs.Class {
	if err == nil {
		return errs.Success
	}
	for _, x := range classes {
		if errors.Is(err, x.err) {
			return x.class
		}
	}
	class := errs.Of(err)
	if class != errs.Unknown {
		return class
	}
	for _, x := range unclassed {
		if errors.Is(err, x) {
			return errs.Other
		}
	}
	return class
}

// AddTo makes an error that wraps a class match the error of the table for that class, too. Its text stays.
func AddTo(err error) error {
	if err == nil { // without the memory that errors.As takes
		return nil
	}
	return withSentinel(err)
}

func withSentinel(err error) error {
	var class errs.Class
	if !errors.As(err, &class) {
		return err
	}
	return Also(err, ofClass[class])
}

// Also makes err match other, too, unless that is nil. Its text stays.
func Also(err, other error) error {
	if other == nil || errors.Is(err, other) {
		return err
	}
	return &aliasError{err, other}
}

// aliasError is an error that also matches another one.
type aliasError struct {
	error
	also error
}

// Unwrap gives both, for errors.Is.
func (t *aliasError) Unwrap() []error { return []error{t.error, t.also} }
