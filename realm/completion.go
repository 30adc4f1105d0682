package realm

import (
	"fmt"
	"sync"

	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// CompletionQueue collects events in the order in which they trigger. It lets one caller handle many operations as they
// end, without a wait for each. NewCompletionQueue makes it; the zero CompletionQueue is of no use.
type CompletionQueue struct {
	rt *Runtime

	mu      sync.Mutex   // guards what follows; nothing is taken under it
	done    []Completion // from first on; those before have been popped
	first   int
	pending int
	some    event.ID // the event that NonEmpty has returned; 0: none, or it has triggered
}

// Completion is an event that has triggered.
type Completion struct {
	Event Event
	Err   error // a *PoisonError if it was poisoned
}

// NewCompletionQueue makes an empty queue on this rank.
func (rt *Runtime) NewCompletionQueue() *CompletionQueue { return &CompletionQueue{rt: rt} }

// Add gives e to the queue when it triggers. It does not block. The error is ErrArgument.
func (q *CompletionQueue) Add(e Event) error {
	if q.rt == nil {
		return fmt.Errorf("realm: Add: %w: a CompletionQueue that was not created", ErrArgument)
	}
	n := q.rt.newNotice(q)
	n.of = e
	q.mu.Lock()
	q.pending++
	q.mu.Unlock()
	st, why := q.rt.ev.AwaitEvent(event.ID(e), &n.Waiter)
	if st == event.Pending {
		return nil
	}
	q.rt.notices.Put(n)
	if st == event.Unknown {
		q.mu.Lock()
		q.pending--
		q.mu.Unlock()
		return q.rt.unknown("Add", e)
	}
	k := q.rt.ev.BeginCascade(nil)
	q.putCompletion(Completion{e, poisonError(e, why)}, k)
	k.EndCascade(events.CallBudget)
	return nil
}

// putCompletion enters a completion, and triggers the event of NonEmpty.
func (q *CompletionQueue) putCompletion(c Completion, k *events.Cascade) {
	q.mu.Lock()
	q.pending--
	q.done = append(q.done, c)
	some := q.some
	q.some = 0
	q.mu.Unlock()
	if some != 0 {
		k.Trigger(some, nil)
	}
}

// Pop moves up to len(to) completions to to, the oldest first, and returns how many. It does not block.
func (q *CompletionQueue) Pop(to []Completion) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := copy(to, q.done[q.first:])
	clear(q.done[q.first:][:n])
	q.first += n
	if 2*q.first >= len(q.done) { // so each is moved once, on the whole
		left := copy(q.done, q.done[q.first:])
		clear(q.done[left:])
		q.done, q.first = q.done[:left], 0
	}
	return n
}

// NonEmpty is an event that triggers when there is something to Pop. It does not block.
func (q *CompletionQueue) NonEmpty() Event {
	if q.rt == nil {
		return noSuchEvent
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.done) > q.first {
		return NoEvent
	}
	if q.some == 0 {
		q.some = q.rt.ev.NewEvent()
	}
	return Event(q.some)
}

// Pending is how many events have been added that have not triggered.
func (q *CompletionQueue) Pending() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.pending
}
