package realm

import "github.com/golci/golci/realm/internal/event"

// AdviseOrder tells the runtime that the program triggers after, a user event, only once before has triggered. The
// runtime holds nobody to that. It uses the advice where it tells what waits: in dumps and in Deadlocks, which so find
// circles that the program's own code closes. The advice ends when before triggers. It does not block. It is Realm's
// advise_event_ordering. Errors: ErrArgument for an event that cannot be.
func (rt *Runtime) AdviseOrder(before, after Event) error {
	switch st, _ := rt.ev.LookAtEvent(event.ID(after)); st {
	case event.Unknown:
		return rt.unknown("AdviseOrder", after)
	case event.Triggered:
		return nil
	}
	a := &advice{to: event.ID(after)}
	a.Op = a
	if st, _ := rt.ev.AwaitEvent(event.ID(before), &a.Waiter); st == event.Unknown {
		return rt.unknown("AdviseOrder", before)
	}
	return nil
}

// advice is that the program triggers an event only after another one. It does not change.
type advice struct {
	event.Waiter
	to event.ID
}

// Fire implements event.Op.
func (*advice) Fire(*event.Waiter, any) {}

// String says what waits.
func (a *advice) String() string {
	return "the program, which by its advice triggers " + a.to.String() + ","
}
