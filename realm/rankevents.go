package realm

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

// rankEvents is what a rank has of events and barriers, its own and those of others, and how it speaks of them.
type rankEvents struct {
	rank, size int
	r          *rank.Rank
	ep         *am.Endpoint
	fault      func(err error) // ends the job; a test counts instead. It does not change once the rank has started
	log        observe.Log
	stopped    atomic.Bool // operations cannot start any more

	// Set before the rank starts. None is called when an event triggers.
	later      func(f func())                                          // has the utility processor run f
	blameFor   func(err error) (refused *event.Refused, rest event.ID) // for faultPoison
	reductions func(number uint32) barrier.Op                          // nil if there is none
	parcels    [parcelKinds]parcelFunc
	carriers   map[uint8]carrier

	events      table
	remoteWaits remoteWaits
	replicas    replicas
	barriers    barriers
	deferred    deferredWaiters
	peers       peers
	outs        request.Numbers[outgoing]
	ins         request.Numbers[incoming]

	// Memory of operations that are not in use.
	cascades request.Pool[cascade]
	forwards request.Pool[forward]
	arrivals request.Pool[arrival]

	looks *atomic.Int64 // counts the waiters that are looked at, to find some of them; nil outside of tests
}

// initRank begins the events of r.
func (rt *rankEvents) initRank(r *rank.Rank) {
	rt.rank, rt.size, rt.r, rt.ep = r.Rank(), r.Size(), r, r.Endpoint()
	rt.fault = rt.ep.Fault
	rt.peers.initPeers(rt.size)
}

// unknownID is the error for an event that cannot be.
func (rt *rankEvents) unknownID(what string, e event.ID) error {
	if e == 0 {
		return rt.callErrorf(what, "%w: NoEvent has triggered for ever", fault.ErrArgument)
	}
	return rt.callErrorf(what, "%w: there is no %v in this job of %d ranks", fault.ErrArgument, e, rt.size)
}

func (rt *rankEvents) callErrorf(what, format string, args ...any) error {
	return fmt.Errorf("realm: %s: rank %d: %w", what, rt.rank, fmt.Errorf(format, args...))
}

// closedError is the error of calls that the end of the rank ends: fault.ErrClosed, and why the rank has ended.
func (rt *rankEvents) closedError() error {
	if why := rt.r.Ended(); why != nil {
		return fmt.Errorf("%w: %w", fault.ErrClosed, why)
	}
	return fault.ErrClosed
}

// endedError tells why operations cannot start.
func (rt *rankEvents) endedError() error {
	if !rt.stopped.Load() {
		return nil
	}
	return rt.callErrorf("call", "%w", rt.closedError())
}

// fatal ends the job for a fault that no caller can be told of.
func (rt *rankEvents) fatal(err error) { rt.fault(err) }

// malformed reports a message that no rank with the same program sends.
func (rt *rankEvents) malformed(t *am.Token, what string, e event.ID) {
	rt.fatal(rt.impossible(t.Source(), what, e))
}
