package realm

import "github.com/golci/golci/realm/internal/event"

// Event is something that triggers once. It is a number that may be compared, stored, and sent to other ranks of the
// job, where it names the same event. The zero Event has triggered. Nobody has to free an event.
type Event uint64

// NoEvent has triggered.
const NoEvent Event = 0

// String names the owner, the index and the generation.
func (e Event) String() string { return event.ID(e).String() }

// Rank is the rank that owns e: 0 for NoEvent.
func (e Event) Rank() int {
	if e == NoEvent {
		return 0
	}
	return event.ID(e).Rank()
}

// HasTriggered tells whether e has triggered, as far as this rank knows, and its error if it was poisoned. It does not
// block. Of an event of another rank, of which this rank knows nothing, it says false and asks the owner. If the owner
// has no such event, it counts as poisoned from the answer on, by ErrArgument. For a phase
// of a barrier of another rank it may go on saying false until somebody on this rank has waited for it.
func (rt *Runtime) HasTriggered(e Event) (bool, error) {
	st, why := rt.ev.LookAtEvent(event.ID(e))
	switch st {
	case event.Triggered:
		return true, poisonError(e, why)
	case event.Unknown:
		return false, rt.unknown("HasTriggered", e)
	}
	if id := event.ID(e); id.IsEvent() && id.EventRank() != rt.ev.Self {
		rt.ev.LearnEvent(id)
	}
	return false, nil
}

func (rt *Runtime) unknown(what string, e Event) error { return rt.ev.UnknownID(what, event.ID(e)) }
