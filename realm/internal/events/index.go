package events

import (
	"sync"

	"github.com/golci/golci/realm/internal/event"
)

// The operations that wait for an event are found by the event that they finish with. If this rank owns that, its table
// has the operation, under the lock of the cell, until the event triggers. Else visitors have it, until it begins.
//
// So an entry may outlive the wait: its finder does not know whether the operation has begun, and its memory serves
// another. What it waits for tells. If that is an event of this rank that has not triggered, the operation still waits.
// Else a look through the waiters of that one event finds out, and the memory may be that of another operation even if
// it is among them.
//
// The entry of a merger is right as long as it is there, since the merger takes it out before it ends.

// remoteWaits has the operations that wait here and finish with an event of another rank.
type remoteWaits struct {
	Mu sync.Mutex // guards of; nothing is taken under it
	Of map[event.ID]WaitsFor
}

// Arrives notes that an operation of another rank is about to wait here, if e belongs to one. It departs when it
// begins, or does not wait.
func (rt *Rank) Arrives(e event.ID, at WaitsFor) {
	if e.EventRank() == rt.Self {
		return
	}
	v := &rt.RemoteWaits
	v.Mu.Lock()
	defer v.Mu.Unlock()
	if v.Of == nil {
		v.Of = make(map[event.ID]WaitsFor)
	}
	v.Of[e] = at
}

// Departs takes out the operation that finishes with e, if that belongs to another rank.
func (rt *Rank) Departs(e event.ID) {
	if e.EventRank() != rt.Self {
		rt.RemoteWaits.takeVisitor(e)
	}
}

func (v *remoteWaits) takeVisitor(e event.ID) WaitsFor {
	v.Mu.Lock()
	defer v.Mu.Unlock()
	at := v.Of[e]
	delete(v.Of, e)
	return at
}

// EnterWait notes what the operation that is to trigger e waits for, unless e belongs to another rank or has triggered.
// how is indexed or once.
func (rt *Rank) EnterWait(e event.ID, at WaitsFor, how int32) {
	if !rt.Owns(e) {
		return
	}
	c := rt.Events.CellAt(e.EventIndex())
	if c == nil {
		return
	}
	to := rt.Events.makeWaiting(c)
	c.Lock.Lock()
	if gen, alive := c.Slot.Alive(); alive && gen == e.Gen() && c.Expect <= None {
		c.Expect, *to = how, at
	}
	c.Lock.Unlock()
}

// LeaveIndex takes the operation out that is to trigger e, if this rank owns e.
func (rt *Rank) LeaveIndex(e event.ID) {
	if rt.Owns(e) {
		rt.ClaimWait(e, true)
	}
}

// ClaimWait is what the operation that finishes with e waits for. It takes the operation out unless it is a merger:
// nobody else finds it then. all takes a merger out, too. The result has no waiter if there is none.
func (rt *Rank) ClaimWait(e event.ID, all bool) (at WaitsFor) {
	if !rt.Owns(e) {
		return rt.RemoteWaits.takeVisitor(e)
	}
	c := rt.Events.CellAt(e.EventIndex())
	if c == nil {
		return at
	}
	c.Lock.Lock()
	if gen, alive := c.Slot.Alive(); alive && gen == e.Gen() && c.Expect < None {
		if at = *rt.Events.WaitingOf(c); all || at.Of != 0 {
			rt.Events.noteEnded(c)
		}
	}
	c.Lock.Unlock()
	return at
}
