package realm

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/golci/golci/am"
	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm/internal/event"
)

// Errors, for errors.Is.
var (
	ErrPoisoned   = errors.New("realm: poisoned")                // the event, or one that it depends on
	ErrForgotten  = errors.New("realm: outcome forgotten")       // of an event that triggered long ago
	ErrArgument   = errors.New("realm: invalid argument")        // a handle, number or type that cannot be
	ErrCanceled   = errors.New("realm: canceled")                // the cause of Cancel(nil)
	ErrTriggered  = errors.New("realm: the event has triggered") // by another call, before
	ErrBegun      = errors.New("realm: the operation has begun") // or there is none
	ErrRegistered = errors.New("realm: registration differs")    // between ranks, or came after the start
	ErrSize       = am.ErrSize                                   // of arguments or data
	ErrPeer       = am.ErrPeer                                   // the other rank has died
	ErrClosed     = am.ErrClosed                                 // the runtime has ended
	ErrPending    = rank.ErrPending                              // operations have not ended
)

// PoisonError is why an operation was not done.
type PoisonError struct {
	Event Event  // that was waited for
	Rank  int    // where the fault began; -1: that has been forgotten, since it was long ago
	Cause string // what it was
	why   *event.Poison
}

func poisonError(e Event, p *event.Poison) error {
	if p == nil {
		return nil
	}
	return &PoisonError{e, int(p.Rank), p.String(), p}
}

// toPoison is the poison that e tells of.
func (e *PoisonError) toPoison() *event.Poison {
	if e.why != nil {
		return e.why
	}
	return &event.Poison{Rank: int32(e.Rank), Text: e.Cause} // the program has made it
}

// Error names the event, the rank and the cause.
func (e *PoisonError) Error() string {
	return fmt.Sprintf("realm: %v is poisoned: rank %d: %s", e.Event, e.Rank, e.Cause)
}

// Unwrap gives ErrPoisoned, and on the rank where the fault began the error that a task returned, or that Cancel was
// given.
func (e *PoisonError) Unwrap() []error {
	if e == nil || e.why == nil || e.why.Err == nil { // a nil pointer that is an error
		return []error{ErrPoisoned}
	}
	return []error{ErrPoisoned, e.why.Err}
}

// Is finds, also on ranks where the fault did not begin, the errors of this package in the cause, those of package
// context, io.EOF, io.ErrUnexpectedEOF, errors.ErrUnsupported, os.ErrDeadlineExceeded, and those of package io/fs, and
// what ends a rank or its peer. They are found for as long as it is known that the event was poisoned. ErrForgotten
// says that this is not known any more.
func (e *PoisonError) Is(target error) bool {
	return e != nil && e.why != nil && hasNumber(e.why.Errors, target)
}

// safely calls f, which runs functions of the program. A panic there becomes an error.
func safely(what string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked(what, v)
		}
	}()
	return f()
}

// panicked is the error for a panic of what, with value v.
func panicked(what string, v any) error {
	if err, ok := v.(error); ok {
		return fmt.Errorf("%s: panic: %w\n%s", what, err, debug.Stack())
	}
	return fmt.Errorf("%s: panic: %v\n%s", what, v, debug.Stack())
}

func (rt *Runtime) callErrorf(what, format string, args ...any) error {
	return fmt.Errorf("realm: %s: rank %d: %w", what, rt.rank, fmt.Errorf(format, args...))
}
