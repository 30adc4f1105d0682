// Package events has a rank's part of the events and barriers of a job. These are its own, and what it knows of those
// of others. It has, too, the messages by which ranks tell each other. What is to happen once an event has triggered
// waits there by an event.Waiter, and runs in a Cascade. The package knows nothing of tasks, data and reservations.
package events

import (
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/am"
	"github.com/golci/golci/internal/request"
	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm/internal/barrier"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/fault"
	"github.com/golci/golci/realm/internal/observe"
)

// Rank is what a rank has of events and barriers, its own and those of others, and how it speaks of them.
type Rank struct {
	Self, Size int
	OfRank     *rank.Rank
	Endpoint   *am.Endpoint
	Fault      func(err error) // ends the job; a test counts instead. It does not change once the rank has started
	Log        observe.Log
	Stopped    atomic.Bool // operations cannot start any more

	// Set before the rank starts. None is called when an event triggers.
	Later      func(f func())                                          // has the utility processor run f
	BlameFor   func(err error) (refused *event.Refused, rest event.ID) // for FaultPoison
	Reductions func(number uint32) barrier.Op                          // nil if there is none
	Parcels    [ParcelKinds]ParcelFunc
	Carriers   map[uint8]Carrier

	Events      Table
	RemoteWaits remoteWaits
	Replicas    Replicas
	Barriers    barriers
	deferred    deferredWaiters
	Peers       peers
	Outs        request.Numbers[Outgoing]
	Ins         request.Numbers[Incoming]

	// Memory of operations that are not in use.
	cascades request.Pool[Cascade]
	forwards request.Pool[Forward]
	Arrivals request.Pool[Arrival]

	Looks *atomic.Int64 // counts the waiters that are looked at, to find some of them; nil outside of tests
}

// InitRank begins the events of r.
func (rt *Rank) InitRank(r *rank.Rank) {
	rt.Self, rt.Size, rt.OfRank, rt.Endpoint = r.Rank(), r.Size(), r, r.Endpoint()
	rt.Fault = rt.Endpoint.Fault
	rt.Peers.InitPeers(rt.Size)
}

// UnknownID is the error for an event that cannot be.
func (rt *Rank) UnknownID(what string, e event.ID) error {
	if e == 0 {
		return rt.CallErrorf(what, "%w: NoEvent has triggered for ever", fault.ErrArgument)
	}
	return rt.CallErrorf(what, "%w: there is no %v in this job of %d ranks", fault.ErrArgument, e, rt.Size)
}

func (rt *Rank) CallErrorf(what, format string, args ...any) error {
	return fmt.Errorf("realm: %s: rank %d: %w", what, rt.Self, fmt.Errorf(format, args...))
}

// ClosedError is the error of calls that the end of the rank ends: fault.ErrClosed, and why the rank has ended.
func (rt *Rank) ClosedError() error {
	if why := rt.OfRank.Ended(); why != nil {
		return fmt.Errorf("%w: %w", fault.ErrClosed, why)
	}
	return fault.ErrClosed
}

// EndedError tells why operations cannot start.
func (rt *Rank) EndedError() error {
	if !rt.Stopped.Load() {
		return nil
	}
	return rt.CallErrorf("call", "%w", rt.ClosedError())
}

// Fatal ends the job for a fault that no caller can be told of.
func (rt *Rank) Fatal(err error) { rt.Fault(err) }

// Malformed reports a message that no rank with the same program sends.
func (rt *Rank) Malformed(t *am.Token, what string, e event.ID) {
	rt.Fatal(rt.Impossible(t.Source(), what, e))
}
