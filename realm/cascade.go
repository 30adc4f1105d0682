package realm

import (
	"sync"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/realm/internal/event"
)

// cascade runs what events that trigger let begin: one waiter after the other, without recursion. It belongs to one
// goroutine. What it runs must neither block nor call a program's code.
type cascade struct {
	rt   *rankEvents
	w    *fult.Worker // that the caller runs on, or nil
	list event.List   // waiters whose event has triggered

	scratch  []byte         // for the messages of one reservation
	barriers []*barrierCell // that have something to send when the cascade has run
}

// A cascade that has run so many waiters leaves the others to a processor, because a poll, or a task, has to go on.
const (
	pollBudget = 1024
	callBudget = 8192
)

// beginCascade gives the caller a cascade. w is the worker that it runs on, if it knows.
func (rt *rankEvents) beginCascade(w *fult.Worker) *cascade {
	k := rt.cascades.Get()
	if k == nil {
		k = &cascade{rt: rt}
	}
	k.w = w
	return k
}

// endCascade runs the cascade and gives it back.
func (k *cascade) endCascade(budget int) {
	k.runWaiters(budget)
	k.rt.cascades.Put(k)
}

// runWaiters runs all waiters, or budget of them. The others go to the utility processor.
func (k *cascade) runWaiters(budget int) {
	for w := k.list.Pop(); w != nil; w = k.list.Pop() {
		w.Op.Fire(w, k)
		if budget--; budget == 0 && !k.list.Empty() {
			k.rt.leaveWaiters(&k.list)
		}
	}
	if len(k.barriers) > 0 {
		k.flushBarriers()
	}
}

// trigger triggers e, poisoned if why is not nil. Its waiters of this rank become part of the cascade, and the ranks
// that have to know are told.
func (k *cascade) trigger(e event.ID, why *event.Poison) event.Status {
	rt := k.rt
	switch {
	case !e.IsEvent():
		return event.Unknown
	case e.EventRank() != rt.rank:
		return k.triggerRemote(e, why)
	}
	return k.triggerOwn(e, rt.rank, why)
}

// triggerOwn triggers an event of this rank, which rank by has asked for.
func (k *cascade) triggerOwn(e event.ID, by int, why *event.Poison) event.Status {
	rt := k.rt
	c := rt.events.cellAt(e.EventIndex())
	if c == nil {
		return event.Unknown
	}
	c.lock.Lock()
	woken, tell, st := c.slot.Trigger(e.Gen(), int32(by), why)
	retired := c.slot.Retired()
	var poisoned *event.Poisons
	if tell.Len() > 0 {
		_, poisoned = c.slot.Update()
	}
	if st == event.Pending && c.expect < none {
		rt.events.noteEnded(c)
	}
	c.lock.Unlock()
	if st != event.Pending {
		return st
	}
	k.list.Append(&woken)
	if tell.Len() > 0 {
		rt.tellRanks(&tell, e, poisoned)
	}
	if retired {
		rt.events.retire(c)
	} else {
		rt.events.free.Put(c)
	}
	return st
}

// deferredWaiters has the waiters that cascades have left over.
type deferredWaiters struct {
	mu   sync.Mutex // nothing is taken under it
	list event.List
}

// leaveWaiters hands waiters over to the utility processor, and leaves list empty.
func (rt *rankEvents) leaveWaiters(list *event.List) {
	rt.deferred.mu.Lock()
	first := rt.deferred.list.Empty()
	rt.deferred.list.Append(list)
	rt.deferred.mu.Unlock()
	if first {
		rt.later(rt.carryOn)
	}
}

// carryOn runs waiters that were left over.
func (rt *rankEvents) carryOn() {
	k := rt.beginCascade(nil)
	rt.deferred.mu.Lock()
	k.list.Append(&rt.deferred.list)
	rt.deferred.mu.Unlock()
	k.endCascade(callBudget)
}
