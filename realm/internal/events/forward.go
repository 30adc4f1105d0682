package events

import (
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/fault"
)

// FaultPoison is the poison for a fault of this rank. An error that wraps the refusal of an acquire is one, too.
func (rt *Rank) FaultPoison(err error) *event.Poison {
	refused, rest := rt.BlameFor(err)
	return &event.Poison{
		Rank: int32(rt.Self), Errors: fault.NumbersOf(err), Text: err.Error(), Err: err, Refused: refused,
		Rest: rest,
	}
}

// TriggerNow triggers e and runs what that lets begin.
func (rt *Rank) TriggerNow(what string, e event.ID, why *event.Poison) error {
	if err := rt.EndedError(); err != nil {
		return err
	}
	k := rt.BeginCascade(nil)
	st := k.Trigger(e, why)
	k.EndCascade(CallBudget)
	switch st {
	case event.Triggered:
		return rt.CallErrorf(what, "%w: %v", fault.ErrTriggered, e)
	case event.Unknown:
		return rt.UnknownID(what, e)
	}
	return nil
}

// TriggerAfter triggers e once after has triggered.
func (rt *Rank) TriggerAfter(e, after event.ID, ignore bool) error {
	if after == 0 {
		return rt.TriggerNow("Trigger", e, nil)
	}
	f := rt.newForward(e, ignore)
	st, why := rt.AwaitEvent(after, &f.Waiter)
	if st == event.Pending {
		rt.EnterWait(e, WaitsFor{after, &f.Waiter}, Indexed)
		return nil
	}
	rt.forwards.Put(f)
	if st == event.Unknown {
		return rt.UnknownID("Trigger", after)
	}
	if ignore {
		why = nil
	}
	return rt.TriggerNow("Trigger", e, why)
}

// Forward triggers one event once another has triggered.
type Forward struct {
	event.Waiter
	To     event.ID
	ignore bool
}

func (rt *Rank) newForward(to event.ID, ignore bool) *Forward {
	f := rt.forwards.Get()
	if f == nil {
		f = new(Forward)
		f.Op = f
	}
	f.To, f.ignore = to, ignore
	return f
}

// Fire implements event.Op.
func (f *Forward) Fire(w *event.Waiter, by any) {
	k := by.(*Cascade)
	to, why := f.To, w.Poison
	if f.ignore {
		why = nil
	}
	k.Rank.forwards.Put(f)
	k.Trigger(to, why) // a second trigger, of this or another rank, was the program's fault
}

// FailEvent poisons an event of this rank, unless that has happened.
func (rt *Rank) FailEvent(e event.ID, err error) { rt.FailWith(e, rt.FaultPoison(err)) }

func (rt *Rank) FailWith(e event.ID, why *event.Poison) {
	k := rt.BeginCascade(nil)
	k.Trigger(e, why)
	k.EndCascade(CallBudget)
}

// FinishEvent is the event that f triggers.
func (f *Forward) FinishEvent() event.ID { return f.To }

// CancelOp ends f, which nobody else knows any more.
func (f *Forward) CancelOp(k *Cascade, why *event.Poison) {
	to := f.To
	k.Rank.forwards.Put(f)
	k.Trigger(to, why)
}
