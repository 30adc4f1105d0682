package realm

import (
	"fmt"

	"github.com/golci/golci/realm/internal/event"
)

// UserEvent is an event that the program triggers itself. The zero UserEvent is of no use.
type UserEvent struct {
	rt *Runtime
	e  event.ID
}

// NewUserEvent creates an event that this rank owns. It sends nothing, and neither blocks nor allocates.
func (rt *Runtime) NewUserEvent() UserEvent { return UserEvent{rt, rt.newEvent()} }

// UserEvent binds e, which a UserEvent of any rank gave, to this runtime.
func (rt *Runtime) UserEvent(e Event) UserEvent { return UserEvent{rt, event.ID(e)} }

// Event is the event, to wait for and to send.
func (u UserEvent) Event() Event { return Event(u.e) }

// Trigger triggers the event once after has triggered, on any rank. If after is poisoned, so is the event, unless
// IgnoreFaults is among the options. It does not block. What it lets begin is begun in the call, up to a bound.
// Errors: ErrTriggered, as far as this rank knows; ErrArgument for an event that cannot be. Where only the owner can
// know that, another rank, there is no error, and the event counts as poisoned here once the owner has answered.
func (u UserEvent) Trigger(after Event, opts ...Option) error {
	if u.rt == nil {
		return fmt.Errorf("realm: Trigger: %w: a UserEvent that was not created", ErrArgument)
	}
	return u.rt.triggerAfter(u.e, event.ID(after), ignoring(opts))
}

// Cancel poisons the event with err as the cause; with nil it is ErrCanceled. All that depends on the event is not
// done. It does not block. Errors: those of Trigger.
func (u UserEvent) Cancel(err error) error {
	if u.rt == nil {
		return fmt.Errorf("realm: Cancel: %w: a UserEvent that was not created", ErrArgument)
	}
	if err == nil {
		err = ErrCanceled
	}
	return u.rt.triggerNow("Cancel", u.e, u.rt.faultPoison(err))
}

// faultPoison is the poison for a fault of this rank. An error that wraps the refusal of an acquire is one, too.
func (rt *Runtime) faultPoison(err error) *event.Poison {
	refused, rests := refusedBy(err)
	return &event.Poison{
		Rank: int32(rt.rank), Errors: numbersOf(err), Text: err.Error(), Err: err, Refused: refused,
		Rest: rt.afterAll(rests),
	}
}

// triggerNow triggers e and runs what that lets begin.
func (rt *Runtime) triggerNow(what string, e event.ID, why *event.Poison) error {
	if err := rt.endedError(); err != nil {
		return err
	}
	k := rt.beginCascade(nil)
	st := k.trigger(e, why)
	k.endCascade(callBudget)
	switch st {
	case event.Triggered:
		return rt.callErrorf(what, "%w: %v", ErrTriggered, e)
	case event.Unknown:
		return rt.unknown(what, Event(e))
	}
	return nil
}

// triggerAfter triggers e once after has triggered.
func (rt *Runtime) triggerAfter(e, after event.ID, ignore bool) error {
	if after == 0 {
		return rt.triggerNow("Trigger", e, nil)
	}
	f := rt.newForward(e, ignore)
	st, why := rt.awaitEvent(after, &f.Waiter)
	if st == event.Pending {
		rt.enterWait(e, waitsFor{after, &f.Waiter}, indexed)
		return nil
	}
	rt.forwards.Put(f)
	if st == event.Unknown {
		return rt.unknown("Trigger", Event(after))
	}
	if ignore {
		why = nil
	}
	return rt.triggerNow("Trigger", e, why)
}

// forward triggers one event once another has triggered.
type forward struct {
	event.Waiter
	to     event.ID
	ignore bool
}

func (rt *Runtime) newForward(to event.ID, ignore bool) *forward {
	f := rt.forwards.Get()
	if f == nil {
		f = new(forward)
		f.Op = f
	}
	f.to, f.ignore = to, ignore
	return f
}

// Fire implements event.Op.
func (f *forward) Fire(w *event.Waiter, by any) {
	k := by.(*cascade)
	to, why := f.to, w.Poison
	if f.ignore {
		why = nil
	}
	k.rt.forwards.Put(f)
	k.trigger(to, why) // a second trigger, of this or another rank, was the program's fault
}
