// Package fault has the errors of package realm, which errors.Is finds on all ranks.
package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm/internal/event"
)

// Errors of the programs' calls. Package realm says what they mean.
var (
	ErrPoisoned   = errors.New("realm: poisoned")
	ErrForgotten  = errors.New("realm: outcome forgotten")
	ErrArgument   = errors.New("realm: invalid argument")
	ErrCanceled   = errors.New("realm: canceled")
	ErrTriggered  = errors.New("realm: the event has triggered")
	ErrBegun      = errors.New("realm: the operation has begun")
	ErrRegistered = errors.New("realm: registration differs")
	ErrMemory     = errors.New("realm: out of memory")
	ErrSize       = am.ErrSize
	ErrPeer       = am.ErrPeer
	ErrClosed     = am.ErrClosed
	ErrPending    = rank.ErrPending
)

// ErrMalformed is that of a message that no rank of the program sends.
var ErrMalformed = errors.New("malformed")

// numbered are the errors that errors.Is finds in a poison on all ranks. Their places are the bits of Poison.Errors.
var numbered = [...]error{
	ErrMemory, ErrArgument, ErrCanceled, ErrTriggered, ErrBegun, ErrRegistered, ErrSize, ErrPeer, ErrClosed, ErrPending,
	am.ErrContext, conduit.ErrPeerDied, conduit.ErrPeerClosed, conduit.ErrKey, rank.ErrAborted, rank.ErrFinalized,
	rank.ErrArgument, context.Canceled, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, fs.ErrInvalid,
	fs.ErrPermission, fs.ErrExist, fs.ErrNotExist, fs.ErrClosed, os.ErrDeadlineExceeded, errors.ErrUnsupported,
}

// NumbersOf are the bits of the errors that err wraps. An outcome that was lost stays so.
func NumbersOf(err error) (bits uint32) {
	for i, e := range numbered {
		if errors.Is(err, e) {
			bits |= 1 << i
		}
	}
	if errors.Is(err, ErrForgotten) {
		bits |= event.Lost
	}
	return bits
}

// HasNumber tells whether target is one of the errors of bits.
func HasNumber(bits uint32, target error) bool {
	if target == ErrForgotten {
		return bits&event.Lost != 0
	}
	for i, e := range numbered {
		if bits>>i&1 != 0 && target == e {
			return true
		}
	}
	return false
}

// Safely calls f, which runs functions of the program. A panic there becomes an error.
func Safely(what string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Panicked(what, v)
		}
	}()
	return f()
}

// Panicked is the error for a panic of what, with value v.
func Panicked(what string, v any) error {
	if err, ok := v.(error); ok {
		return fmt.Errorf("%s: panic: %w\n%s", what, err, debug.Stack())
	}
	return fmt.Errorf("%s: panic: %v\n%s", what, v, debug.Stack())
}
