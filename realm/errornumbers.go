package realm

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm/internal/event"
)

// numbered are the errors that errors.Is finds in a poison on all ranks. Their places are the bits of Poison.Errors.
var numbered = [...]error{
	ErrMemory, ErrArgument, ErrCanceled, ErrTriggered, ErrBegun, ErrRegistered, ErrSize, ErrPeer, ErrClosed, ErrPending,
	am.ErrContext, conduit.ErrPeerDied, conduit.ErrPeerClosed, conduit.ErrKey, rank.ErrAborted, rank.ErrFinalized,
	rank.ErrArgument, context.Canceled, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, fs.ErrInvalid,
	fs.ErrPermission, fs.ErrExist, fs.ErrNotExist, fs.ErrClosed, os.ErrDeadlineExceeded, errors.ErrUnsupported,
}

// numbersOf are the bits of the errors that err wraps. An outcome that was lost stays so.
func numbersOf(err error) (bits uint32) {
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

// hasNumber tells whether target is one of the errors of bits.
func hasNumber(bits uint32, target error) bool {
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

// refusedBy are the reservations that the poisons in the tree of err have kept from being acquired, and the rests that
// they have left.
func refusedBy(err error) (all *event.Refused, rests []Event) {
	if p, ok := err.(*PoisonError); ok && p != nil && p.why != nil {
		if all = p.why.Refused; p.why.Rest != 0 {
			rests = append(rests, Event(p.why.Rest))
		}
	}
	take := func(err error) {
		if err != nil {
			r, rs := refusedBy(err)
			all, rests = all.Join(r), append(rests, rs...)
		}
	}
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		take(x.Unwrap())
	case interface{ Unwrap() []error }:
		for _, e := range x.Unwrap() {
			take(e)
		}
	}
	return all, rests
}
