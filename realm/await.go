package realm

import "github.com/golci/golci/realm/internal/event"

// lookAtEvent tells what this rank knows of e.
func (rt *rankEvents) lookAtEvent(e event.ID) (event.Status, *event.Poison) {
	switch {
	case e == 0:
		return event.Triggered, nil
	case !e.IsEvent():
		return rt.lookBarrier(e)
	case e.EventRank() == rt.rank:
		c := rt.events.cellAt(e.EventIndex())
		if c == nil {
			return event.Unknown, nil
		}
		c.lock.Lock()
		defer c.lock.Unlock()
		return c.slot.Look(e.Gen())
	case e.EventRank() < rt.size && e.Gen() != 0:
		return rt.replicas.lookAtReplica(e)
	}
	return event.Unknown, nil
}

// awaitEvent has w wait for e. It will be fired if the status is Pending, maybe before await returns.
func (rt *rankEvents) awaitEvent(e event.ID, w *event.Waiter) (event.Status, *event.Poison) {
	switch {
	case e == 0:
		return event.Triggered, nil
	case !e.IsEvent():
		return rt.awaitBarrier(e, w)
	case e.EventRank() == rt.rank:
		c := rt.events.cellAt(e.EventIndex())
		if c == nil {
			return event.Unknown, nil
		}
		c.lock.Lock()
		st, why := c.slot.Wait(e.Gen(), w)
		c.lock.Unlock()
		return st, why
	case e.EventRank() < rt.size && e.Gen() != 0:
		return rt.awaitRemote(e, w)
	}
	return event.Unknown, nil
}

// withdraw takes w back from the waiters of e. False if it has been fired, or is about to be.
func (rt *rankEvents) withdraw(e event.ID, w *event.Waiter) bool {
	switch {
	case !e.IsEvent():
		return rt.withdrawBarrier(e, w)
	case e.EventRank() == rt.rank:
		c := rt.events.cellAt(e.EventIndex())
		c.lock.Lock()
		defer c.lock.Unlock()
		return c.slot.Withdraw(e.Gen(), w)
	}
	return rt.replicas.withdraw(e, w)
}
