package realm

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
	mu sync.Mutex // guards of; nothing is taken under it
	of map[event.ID]waitsFor
}

// arrives notes that an operation of another rank is about to wait here, if e belongs to one. It departs when it
// begins, or does not wait.
func (rt *rankEvents) arrives(e event.ID, at waitsFor) {
	if e.EventRank() == rt.rank {
		return
	}
	v := &rt.remoteWaits
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.of == nil {
		v.of = make(map[event.ID]waitsFor)
	}
	v.of[e] = at
}

// departs takes out the operation that finishes with e, if that belongs to another rank.
func (rt *rankEvents) departs(e event.ID) {
	if e.EventRank() != rt.rank {
		rt.remoteWaits.takeVisitor(e)
	}
}

func (v *remoteWaits) takeVisitor(e event.ID) waitsFor {
	v.mu.Lock()
	defer v.mu.Unlock()
	at := v.of[e]
	delete(v.of, e)
	return at
}

// enterWait notes what the operation that is to trigger e waits for, unless e belongs to another rank or has triggered.
// how is indexed or once.
func (rt *rankEvents) enterWait(e event.ID, at waitsFor, how int32) {
	if !rt.owns(e) {
		return
	}
	c := rt.events.cellAt(e.EventIndex())
	if c == nil {
		return
	}
	to := rt.events.makeWaiting(c)
	c.lock.Lock()
	if gen, alive := c.slot.Alive(); alive && gen == e.Gen() && c.expect <= none {
		c.expect, *to = how, at
	}
	c.lock.Unlock()
}

// leaveIndex takes the operation out that is to trigger e, if this rank owns e.
func (rt *rankEvents) leaveIndex(e event.ID) {
	if rt.owns(e) {
		rt.claimWait(e, true)
	}
}

// claimWait is what the operation that finishes with e waits for. It takes the operation out unless it is a merger:
// nobody else finds it then. all takes a merger out, too. The result has no waiter if there is none.
func (rt *rankEvents) claimWait(e event.ID, all bool) (at waitsFor) {
	if !rt.owns(e) {
		return rt.remoteWaits.takeVisitor(e)
	}
	c := rt.events.cellAt(e.EventIndex())
	if c == nil {
		return at
	}
	c.lock.Lock()
	if gen, alive := c.slot.Alive(); alive && gen == e.Gen() && c.expect < none {
		if at = *rt.events.waitingOf(c); all || at.of != 0 {
			rt.events.noteEnded(c)
		}
	}
	c.lock.Unlock()
	return at
}
