package realm

import (
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/observe"
	"github.com/golci/golci/realm/internal/reservation"
)

// What a lockOp does when it fires.
const (
	opAcquire uint8 = iota // its precondition has triggered
	opGrant                // the reservation is granted or refused
	opRelease
	opDestroy
)

// lockOp is an operation on a reservation that waits for an event, or for the reservation.
type lockOp struct {
	event.Waiter
	rt     *Runtime
	c      *lockCell
	grant  event.ID // of an acquire
	mode   reservation.Mode
	what   uint8
	ignore bool
	first  *event.Poison      // of a release, which waits for the rest of it; else nil
	watch  *observe.Operation // of an acquire that somebody wants to know of; nil while the memory is not in use
}

func (rt *Runtime) newLockOp(c *lockCell, what uint8) *lockOp {
	o := rt.lockOps.Get()
	if o == nil {
		o = &lockOp{rt: rt}
		o.Op = o
	}
	o.c, o.what, o.ignore = c, what, false
	return o
}

// Fire implements event.Op.
func (o *lockOp) Fire(w *event.Waiter, by any) {
	k := by.(*events.Cascade)
	c, what, why := o.c, o.what, w.Poison
	switch what {
	case opAcquire:
		o.acquireNow(k, why)
	case opGrant:
		o.endAcquire(k, why)
	default:
		if o.first != nil {
			why, o.first = o.first.Join(why), nil
		}
		o.rt.lockOps.Put(o)
		if err := c.finishDeferred(k, what, why); err != nil {
			o.rt.ev.Fatal(err) // nobody else can be told
		}
	}
}

// acquireNow takes the reservation, or waits for it. why is the poison of the precondition.
func (o *lockOp) acquireNow(k *events.Cascade, why *event.Poison) {
	c := o.c
	if why != nil && !o.ignore {
		o.endAcquire(k, reservation.Refusal(c.id, why))
		return
	}
	if o.watch != nil {
		o.rt.ev.Log.NoteReady(o.watch, nil, nil)
	}
	o.what, o.Poison = opGrant, nil
	var out reservation.Out
	c.lock.Lock()
	if c.core.Acquire(&o.Waiter, o.mode, &out) {
		if c.trace != nil {
			c.trace.NoteHold(c.core.Held(), false)
		}
		c.lock.Unlock()
		o.endAcquire(k, nil)
		return
	}
	c.leaveLock(k, &out)
}

// endAcquire triggers the event of an acquire, and frees o.
func (o *lockOp) endAcquire(k *events.Cascade, why *event.Poison) {
	grant, w := o.grant, o.watch
	if w != nil {
		o.watch = nil
		o.c.noteGrant(o.rt, w)
	}
	o.rt.lockOps.Put(o)
	k.Trigger(grant, why)
	if w != nil {
		o.rt.ev.Log.Complete(w, why != nil, nil)
	}
}

// String says what waits.
func (o *lockOp) String() string {
	switch o.what {
	case opRelease:
		return "the release of " + o.c.id.String()
	case opDestroy:
		return "the end of " + o.c.id.String()
	}
	return "the acquire of " + o.c.id.String()
}

// callOf is the function of the program that o is for.
func (o *lockOp) callOf() string {
	switch o.what {
	case opRelease:
		return "Reservation.Release"
	case opDestroy:
		return "Reservation.Destroy"
	}
	return "Reservation.Acquire"
}
