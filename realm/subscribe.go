package realm

import (
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// Subscribe has this rank learn of e, so that HasTriggered tells the truth about an event of another rank soon after it
// has triggered. It does not block. The error is ErrArgument.
func (rt *Runtime) Subscribe(e Event) error {
	n := rt.newNotice(nil)
	st, _ := rt.ev.AwaitEvent(event.ID(e), &n.Waiter)
	if st == event.Pending {
		return nil
	}
	rt.notices.Put(n)
	if st == event.Unknown {
		return rt.unknown("Subscribe", e)
	}
	return nil
}

// notice tells a completion queue, if there is one, that an event has triggered.
type notice struct {
	event.Waiter
	rt *Runtime
	to *CompletionQueue
	of Event
}

func (rt *Runtime) newNotice(to *CompletionQueue) *notice {
	n := rt.notices.Get()
	if n == nil {
		n = &notice{rt: rt}
		n.Op = n
	}
	n.to = to
	return n
}

// Fire implements event.Op.
func (n *notice) Fire(w *event.Waiter, by any) {
	k := by.(*events.Cascade)
	if n.to != nil {
		n.to.putCompletion(Completion{n.of, poisonError(n.of, w.Poison)}, k)
	}
	n.rt.notices.Put(n)
}
