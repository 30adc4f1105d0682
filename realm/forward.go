package realm

import (
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/fault"
)

// faultPoison is the poison for a fault of this rank. An error that wraps the refusal of an acquire is one, too.
func (rt *rankEvents) faultPoison(err error) *event.Poison {
	refused, rest := rt.blameFor(err)
	return &event.Poison{
		Rank: int32(rt.rank), Errors: fault.NumbersOf(err), Text: err.Error(), Err: err, Refused: refused,
		Rest: rest,
	}
}

// triggerNow triggers e and runs what that lets begin.
func (rt *rankEvents) triggerNow(what string, e event.ID, why *event.Poison) error {
	if err := rt.endedError(); err != nil {
		return err
	}
	k := rt.beginCascade(nil)
	st := k.trigger(e, why)
	k.endCascade(callBudget)
	switch st {
	case event.Triggered:
		return rt.callErrorf(what, "%w: %v", fault.ErrTriggered, e)
	case event.Unknown:
		return rt.unknownID(what, e)
	}
	return nil
}

// triggerAfter triggers e once after has triggered.
func (rt *rankEvents) triggerAfter(e, after event.ID, ignore bool) error {
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
		return rt.unknownID("Trigger", after)
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

func (rt *rankEvents) newForward(to event.ID, ignore bool) *forward {
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

// failEvent poisons an event of this rank, unless that has happened.
func (rt *rankEvents) failEvent(e event.ID, err error) { rt.failWith(e, rt.faultPoison(err)) }

func (rt *rankEvents) failWith(e event.ID, why *event.Poison) {
	k := rt.beginCascade(nil)
	k.trigger(e, why)
	k.endCascade(callBudget)
}
