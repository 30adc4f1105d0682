package events

import "github.com/golci/golci/realm/internal/event"

// LookAtEvent tells what this rank knows of e.
func (rt *Rank) LookAtEvent(e event.ID) (event.Status, *event.Poison) {
	switch {
	case e == 0:
		return event.Triggered, nil
	case !e.IsEvent():
		return rt.lookBarrier(e)
	case e.EventRank() == rt.Self:
		c := rt.Events.CellAt(e.EventIndex())
		if c == nil {
			return event.Unknown, nil
		}
		c.Lock.Lock()
		defer c.Lock.Unlock()
		return c.Slot.Look(e.Gen())
	case e.EventRank() < rt.Size && e.Gen() != 0:
		return rt.Replicas.LookAtReplica(e)
	}
	return event.Unknown, nil
}

// AwaitEvent has w wait for e. It will be fired if the status is Pending, maybe before await returns.
func (rt *Rank) AwaitEvent(e event.ID, w *event.Waiter) (event.Status, *event.Poison) {
	switch {
	case e == 0:
		return event.Triggered, nil
	case !e.IsEvent():
		return rt.awaitBarrier(e, w)
	case e.EventRank() == rt.Self:
		c := rt.Events.CellAt(e.EventIndex())
		if c == nil {
			return event.Unknown, nil
		}
		c.Lock.Lock()
		st, why := c.Slot.Wait(e.Gen(), w)
		c.Lock.Unlock()
		return st, why
	case e.EventRank() < rt.Size && e.Gen() != 0:
		return rt.awaitRemote(e, w)
	}
	return event.Unknown, nil
}

// Withdraw takes w back from the waiters of e. False if it has been fired, or is about to be.
func (rt *Rank) Withdraw(e event.ID, w *event.Waiter) bool {
	switch {
	case !e.IsEvent():
		return rt.withdrawBarrier(e, w)
	case e.EventRank() == rt.Self:
		c := rt.Events.CellAt(e.EventIndex())
		c.Lock.Lock()
		defer c.Lock.Unlock()
		return c.Slot.Withdraw(e.Gen(), w)
	}
	return rt.Replicas.withdraw(e, w)
}
