package events

import (
	"sync"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/realm/internal/event"
)

// Cascade runs what events that trigger let begin: one waiter after the other, without recursion. It belongs to one
// goroutine. What it runs must neither block nor call a program's code.
type Cascade struct {
	Rank *Rank
	By   *fult.Worker // that the caller runs on, or nil
	List event.List   // waiters whose event has triggered

	Scratch  []byte         // for the messages of one reservation
	barriers []*BarrierCell // that have something to send when the cascade has run
}

// A cascade that has run so many waiters leaves the others to a processor, because a poll, or a task, has to go on.
const (
	PollBudget = 1024
	CallBudget = 8192
)

// BeginCascade gives the caller a cascade. w is the worker that it runs on, if it knows.
func (rt *Rank) BeginCascade(w *fult.Worker) *Cascade {
	k := rt.cascades.Get()
	if k == nil {
		k = &Cascade{Rank: rt}
	}
	k.By = w
	return k
}

// EndCascade runs the cascade and gives it back.
func (k *Cascade) EndCascade(budget int) {
	k.RunWaiters(budget)
	k.Rank.cascades.Put(k)
}

// RunWaiters runs all waiters, or budget of them. The others go to the utility processor.
func (k *Cascade) RunWaiters(budget int) {
	for w := k.List.Pop(); w != nil; w = k.List.Pop() {
		w.Op.Fire(w, k)
		if budget--; budget == 0 && !k.List.Empty() {
			k.Rank.leaveWaiters(&k.List)
		}
	}
	if len(k.barriers) > 0 {
		k.flushBarriers()
	}
}

// Trigger triggers e, poisoned if why is not nil. Its waiters of this rank become part of the cascade, and the ranks
// that have to know are told.
func (k *Cascade) Trigger(e event.ID, why *event.Poison) event.Status {
	rt := k.Rank
	switch {
	case !e.IsEvent():
		return event.Unknown
	case e.EventRank() != rt.Self:
		return k.triggerRemote(e, why)
	}
	return k.TriggerOwn(e, rt.Self, why)
}

// TriggerOwn triggers an event of this rank, which rank by has asked for.
func (k *Cascade) TriggerOwn(e event.ID, by int, why *event.Poison) event.Status {
	rt := k.Rank
	c := rt.Events.CellAt(e.EventIndex())
	if c == nil {
		return event.Unknown
	}
	c.Lock.Lock()
	woken, tell, st := c.Slot.Trigger(e.Gen(), int32(by), why)
	retired := c.Slot.Retired()
	var poisoned *event.Poisons
	if tell.Len() > 0 {
		_, poisoned = c.Slot.Update()
	}
	if st == event.Pending && c.Expect < None {
		rt.Events.noteEnded(c)
	}
	c.Lock.Unlock()
	if st != event.Pending {
		return st
	}
	k.List.Append(&woken)
	if tell.Len() > 0 {
		rt.tellRanks(&tell, e, poisoned)
	}
	if retired {
		rt.Events.Retire(c)
	} else {
		rt.Events.free.Put(c)
	}
	return st
}

// deferredWaiters has the waiters that cascades have left over.
type deferredWaiters struct {
	mu   sync.Mutex // nothing is taken under it
	list event.List
}

// leaveWaiters hands waiters over to the utility processor, and leaves list empty.
func (rt *Rank) leaveWaiters(list *event.List) {
	rt.deferred.mu.Lock()
	first := rt.deferred.list.Empty()
	rt.deferred.list.Append(list)
	rt.deferred.mu.Unlock()
	if first {
		rt.Later(rt.carryOn)
	}
}

// carryOn runs waiters that were left over.
func (rt *Rank) carryOn() {
	k := rt.BeginCascade(nil)
	rt.deferred.mu.Lock()
	k.List.Append(&rt.deferred.list)
	rt.deferred.mu.Unlock()
	k.EndCascade(CallBudget)
}
