package realm

import (
	"sync/atomic"

	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// Merge returns an event that triggers when all of events have triggered. It is poisoned as soon as one of them is. It
// does not block. The result may be one of events, or NoEvent if all have triggered. An event that cannot be poisons
// the result, with ErrArgument.
func (rt *Runtime) Merge(events ...Event) Event { return rt.merge(events, false) }

// MergeIgnoringFaults is Merge, but it treats poisoned events like others.
func (rt *Runtime) MergeIgnoringFaults(events ...Event) Event { return rt.merge(events, true) }

func (rt *Runtime) merge(list []Event, ignore bool) Event {
	only, n := distinct(list)
	if n == 0 || n == 1 && !ignore {
		return only
	}
	m := rt.newMerger(n, ignore)
	e := rt.ev.NewEventFor(0, &m.few[0], events.Indexed)
	m.to = e
	k := rt.ev.BeginCascade(nil)
	m.gather(k, list)
	k.EndCascade(events.CallBudget)
	return Event(e)
}

// launchAfter has t become ready once all of list have triggered. It needs no event for that. c is the task that
// calls, or nil.
func (rt *Runtime) launchAfter(t *task, list []Event, c *Ctx) {
	only, n := distinct(list)
	if n <= 1 {
		if only != NoEvent {
			rt.ev.EnterWait(t.finish, events.WaitsFor{Of: event.ID(only), By: &t.Waiter}, events.Indexed)
		}
		t.launchAfter(event.ID(only))
		return
	}
	m := rt.newMerger(n, t.ignore)
	m.to, m.task = t.finish, t
	rt.ev.EnterWait(m.to, events.WaitsFor{By: &m.few[0]}, events.Indexed)
	if c != nil && c.runner != nil {
		m.gather(&c.cascade, list)
		c.cascade.RunWaiters(events.CallBudget)
		return
	}
	k := rt.ev.BeginCascade(nil)
	m.gather(k, list)
	k.EndCascade(events.CallBudget)
}

// distinct counts events that have not triggered as far as their number says, and differ from the one before.
func distinct(list []Event) (only Event, n int) {
	for _, e := range list {
		if e != NoEvent && e != only {
			only = e
			n++
		}
	}
	return only, n
}

// gather has m wait for list, those that distinct has counted. m may be free when it returns.
func (m *merger) gather(k *events.Cascade, list []Event) {
	last := NoEvent
	i, over := 0, uint32(0)
	for _, x := range list {
		if x == NoEvent || x == last {
			continue
		}
		last = x
		over += m.addWaiter(k, i, event.ID(x))
		i++
	}
	if over > 0 { // else the last waiter to be fired ends m, which may have happened
		m.dropEvents(k, over)
	}
}

// inlineMerge is the number of events that a merger takes without an allocation.
const inlineMerge = 6

// merger triggers an event, or has a task become ready, once several events have triggered. Those may trigger at the
// same time in different goroutines, so what they share is atomic. The last one frees the merger.
type merger struct {
	rt       *Runtime
	left     atomic.Uint32            // events that have not been counted as triggered, also those that are yet to be added
	early    atomic.Pointer[earlyEnd] // a poisoned event has ended it early, or it has been canceled; else nil
	priority atomic.Uint64            // 1<<32 and a new priority of the task; 0: none. Written while it is in the index
	to       event.ID
	task     *task // that finishes with to, which it triggers itself, or nil; it is not touched after the end
	ignore   bool
	few      [inlineMerge]event.Waiter
	many     []event.Waiter // in the place of few where these are not enough
}

func (rt *Runtime) newMerger(n int, ignore bool) *merger {
	m := rt.mergers.Get()
	if m == nil {
		m = &merger{rt: rt}
		for i := range m.few {
			m.few[i].Op = m
		}
	}
	if n > inlineMerge {
		m.many = make([]event.Waiter, n)
		for i := range m.many {
			m.many[i].Op = m
		}
	}
	m.to, m.ignore = 0, ignore
	if m.early.Load() != nil { // a store costs an exchange
		m.early.Store(nil)
	}
	if m.priority.Load() != 0 {
		m.priority.Store(0)
	}
	arch.StoreRel32(&m.left, uint32(n)) // published by the lock of each event that gets a waiter
	return m
}

// addWaiter makes the i-th waiter wait for e. It returns how many events of this one have triggered, which the caller
// is to count: 0 or 1.
func (m *merger) addWaiter(k *events.Cascade, i int, e event.ID) uint32 {
	w := &m.few[min(i, inlineMerge-1)]
	if m.many != nil {
		w = &m.many[i]
	}
	st, why := m.rt.ev.AwaitEvent(e, w)
	switch st {
	case event.Pending:
		return 0
	case event.Unknown:
		why = m.rt.ev.FaultPoison(m.rt.unknown("Merge", Event(e)))
	}
	m.spoil(k, why)
	return 1
}

// Fire implements event.Op.
func (m *merger) Fire(w *event.Waiter, by any) {
	k := by.(*events.Cascade)
	m.spoil(k, w.Poison)
	m.dropEvents(k, 1)
}

// spoil takes the poison of one event, if there is one. The first ends the merger at once: the others may never come.
func (m *merger) spoil(k *events.Cascade, why *event.Poison) {
	if why == nil || m.ignore {
		return
	}
	x := m.early.Load()
	if x == nil {
		first := m.rt.newEarlyEnd(m.left.Load() > 1)
		if m.early.CompareAndSwap(nil, first) {
			m.endMerger(k, first.poisonMerger(why))
			return
		}
		first.forgo(k)
		x = m.early.Load()
	}
	x.addPoison(why)
}

// endMerger does what m is for.
func (m *merger) endMerger(k *events.Cascade, why *event.Poison) {
	if m.task != nil {
		if p := m.priority.Load(); p != 0 {
			m.task.priority = int32(uint32(p))
		}
		m.task.beginTask(k, why)
		return
	}
	k.Trigger(m.to, why)
}

// dropEvents counts n events. m must not be touched after it, since the last caller frees it. A caller that finds only
// its own events left needs no exchange: all others have been counted, which the load has seen.
func (m *merger) dropEvents(k *events.Cascade, n uint32) {
	if m.left.Load() != n && m.left.Add(-n) != 0 {
		return
	}
	x := m.early.Load()
	if x == nil {
		m.rt.ev.LeaveIndex(m.to) // nobody cancels it from here on
		if x = m.early.Load(); x == nil {
			m.endMerger(k, nil)
		}
	}
	m.many, m.task = nil, nil
	m.rt.mergers.Put(m)
	if x != nil && x.rest != 0 {
		x.endEarly(k)
	}
}

// withMerger calls f if m is to trigger e and has not ended, nor does before f returns. f is short and takes no lock.
func (rt *Runtime) withMerger(e event.ID, m *merger, f func()) bool {
	c := rt.ev.Events.CellAt(e.EventIndex())
	c.Lock.Lock()
	defer c.Lock.Unlock()
	gen, alive := c.Slot.Alive()
	if !alive || gen != e.Gen() || c.Expect >= events.None || rt.ev.Events.WaitingOf(c).By != &m.few[0] {
		return false
	}
	f()
	return true
}
