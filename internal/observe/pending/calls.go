package pending

import (
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/spin"
)

// Calls are operations that are in no other place. They are listed from Begin to End.
type Calls struct {
	mu    spin.Lock // guards first and all entries; nothing is taken under it
	first *Entry
}

// Entry is an operation of Calls. One may be used again after its end. Calls.mu guards it.
type Entry struct {
	op    Op
	terms Terms
	use   uint32 // which use it is, as its owner counts them
	owner Owner  // nil: not listed

	prev, next *Entry
}

// Owner is the waiter for an operation of Calls.
type Owner interface {
	// EndPending ends the operation, which has just been taken off the list, with err. It does not block.
	EndPending(err error, w *fult.Worker)
	// Waiter is the thread that waits for the operation, or nil.
	Waiter() *fult.Thread
}

// Terms say how an operation of Calls is ended from outside.
type Terms struct {
	// Stop asks for the end of the operation with that number, with err. It may come after the end, and find another
	// operation in the same memory; the number tells. It is called in polls, so it must not block. nil: the operation
	// just ends.
	Stop   func(number uint64, err error, w *fult.Worker)
	Number uint64
	// Kept says that only its owner ends the operation, or the end of the rank: no wait for it does.
	Kept bool
}

// Begin lists an operation. use tells this use of e from others.
func (c *Calls) Begin(e *Entry, use uint32, op *Op, t Terms, owner Owner) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.op, e.terms, e.use, e.owner = *op, t, use, owner
	e.op.Kind = Call
	e.prev, e.next = nil, c.first
	if e.next != nil {
		e.next.prev = e
	}
	c.first = e
}

// End takes an operation off the list. One caller gets true for a use: that one ends the operation.
func (c *Calls) End(e *Entry, use uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.owner == nil || e.use != use {
		return false
	}
	c.unlinkEntry(e)
	return true
}

// unlinkEntry is called with mu held.
func (c *Calls) unlinkEntry(e *Entry) {
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		c.first = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	}
	e.owner, e.prev, e.next, e.op.Needs, e.terms.Stop = nil, nil, nil, nil, nil
}

// Each shows the operations that are listed.
func (c *Calls) Each(show func(*Op)) {
	c.mu.Lock()
	var all []Op
	for e := c.first; e != nil; e = e.next {
		o := e.op
		o.Thread = e.owner.Waiter()
		all = append(all, o)
	}
	c.mu.Unlock()
	for i := range all {
		show(&all[i])
	}
}

// ending is an operation that is to end.
type ending struct {
	owner Owner // nil: stop is called
	stop  func(number uint64, err error, w *fult.Worker)
	id    uint64
	err   error
}

// EndWhere is that of a Source. why is called under the lock of the list, and must take none that is held while one of
// its operations begins or ends.
func (c *Calls) EndWhere(why func(*Op) error, w *fult.Worker) {
	var all []ending
	c.mu.Lock()
	for e := c.first; e != nil; {
		next := e.next
		if err := why(&e.op); err != nil {
			all = append(all, c.takeEnding(e, err))
		}
		e = next
	}
	c.mu.Unlock()
	for _, x := range all {
		x.carryOut(w)
	}
}

// Stop ends one operation from outside with err, or has it end soon. It is false for one that only its owner ends.
func (c *Calls) Stop(e *Entry, use uint32, err error) bool {
	c.mu.Lock()
	if e.owner == nil || e.use != use {
		c.mu.Unlock()
		return true
	}
	if e.terms.Kept {
		c.mu.Unlock()
		return false
	}
	x := c.takeEnding(e, err)
	c.mu.Unlock()
	x.carryOut(nil)
	return true
}

// takeEnding takes e off the list, unless it is to be asked for its end. It is called with mu held.
func (c *Calls) takeEnding(e *Entry, err error) ending {
	x := ending{stop: e.terms.Stop, id: e.terms.Number, err: err}
	if x.stop == nil {
		x.owner = e.owner
		c.unlinkEntry(e)
	}
	return x
}

func (x *ending) carryOut(w *fult.Worker) {
	if x.stop != nil {
		x.stop(x.id, x.err, w)
		return
	}
	x.owner.EndPending(x.err, w)
}
