package realm

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/golci/golci/comm/am"
	"github.com/golci/golci/comm/rank"
	"github.com/golci/golci/internal/realm/event"
)

// Errors, for errors.Is.
var (
	ErrPoisoned   = errors.New("realm: poisoned")                // the event, or one that it depends on
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
	err   error  // the cause itself, on that rank
}

func poisonError(e Event, p *event.Poison) error {
	if p == nil {
		return nil
	}
	return &PoisonError{e, int(p.Rank), p.Text, p.Err}
}

// Error names the event, the rank and the cause.
func (e *PoisonError) Error() string {
	return fmt.Sprintf("realm: %v is poisoned: rank %d: %s", e.Event, e.Rank, e.Cause)
}

// Unwrap gives ErrPoisoned, and on the rank where the fault began the error that a task returned, or that Cancel was
// given.
func (e *PoisonError) Unwrap() []error {
	if e == nil || e.err == nil { // a nil pointer that is an error
		return []error{ErrPoisoned}
	}
	return []error{ErrPoisoned, e.err}
}

// Is finds the errors of this package in the cause, also on ranks where the fault did not begin.
func (e *PoisonError) Is(target error) bool {
	for _, err := range []error{ErrMemory, ErrArgument, ErrCanceled} {
		if target == err {
			return strings.Contains(e.Cause, err.Error())
		}
	}
	return false
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

func (rt *Runtime) errorf(what, format string, args ...any) error {
	return fmt.Errorf("realm: %s: rank %d: %w", what, rt.rank, fmt.Errorf(format, args...))
}
