package realm

import (
	"fmt"

	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/fault"
)

// Errors, for errors.Is.
var (
	ErrPoisoned   = fault.ErrPoisoned   // the event, or one that it depends on
	ErrForgotten  = fault.ErrForgotten  // of an event that triggered long ago
	ErrArgument   = fault.ErrArgument   // a handle, number or type that cannot be
	ErrCanceled   = fault.ErrCanceled   // the cause of Cancel(nil)
	ErrTriggered  = fault.ErrTriggered  // by another call, before
	ErrBegun      = fault.ErrBegun      // or there is none
	ErrRegistered = fault.ErrRegistered // between ranks, or came after the start
	ErrSize       = fault.ErrSize       // of arguments or data
	ErrPeer       = fault.ErrPeer       // the other rank has died
	ErrClosed     = fault.ErrClosed     // the runtime has ended
	ErrPending    = fault.ErrPending    // operations have not ended
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
	return e != nil && e.why != nil && fault.HasNumber(e.why.Errors, target)
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

// blame is what FaultPoison takes from an error: the reservations that were refused, and what is yet to trigger.
func (rt *Runtime) blame(err error) (refused *event.Refused, rest event.ID) {
	refused, rests := refusedBy(err)
	return refused, rt.afterAll(rests)
}
