package fult

import "sync/atomic"

// waitQueue is the queue of an object's waiters, first in, first out. The object's lock guards it.
type waitQueue struct {
	head, tail *entry
	free       *entry // entries for reuse, so that blocking does not allocate
}

// entry is one waiter in the queue. It belongs to the queue until granted is set, then to the waiter.
type entry struct {
	who     Waiter
	next    *entry
	granted atomic.Bool // set by the waker before it signals, under the object's lock
}

func (q *waitQueue) pushWaiter(who Waiter) *entry {
	e := q.free
	if e == nil {
		e = new(entry)
	} else {
		q.free, e.next = e.next, nil
	}
	e.who = who
	e.granted.Store(false)
	if q.head == nil {
		q.head = e
	} else {
		q.tail.next = e
	}
	q.tail = e
	return e
}

// grantFirst removes and marks the first entry and returns its waiter, or nil. The caller signals it without the lock.
func (q *waitQueue) grantFirst() Waiter {
	e := q.head
	if e == nil {
		return nil
	}
	q.head, e.next = e.next, nil
	who := e.who
	e.granted.Store(true)
	return who
}

// grantAll takes all entries out, marks them, and adds them to whom.
func (q *waitQueue) grantAll(whom []Waiter) []Waiter {
	for who := q.grantFirst(); who != nil; who = q.grantFirst() {
		whom = append(whom, who)
	}
	return whom
}

// removeEntry removes e, wherever it is, for a waiter that gives up.
func (q *waitQueue) removeEntry(e *entry) {
	var before *entry
	for x := q.head; x != nil; before, x = x, x.next {
		if x != e {
			continue
		}
		if before == nil {
			q.head = e.next
		} else {
			before.next = e.next
		}
		if q.tail == e {
			q.tail = before
		}
		break
	}
	e.next = nil
}

// recycleEntry keeps an entry that its waiter does not use any more.
func (q *waitQueue) recycleEntry(e *entry) {
	e.who = nil
	e.next, q.free = q.free, e
}

// awaitGrant waits until e is granted. It returns true if Abort or Close ends the waiter before that.
func (e *entry) awaitGrant(me Waiter) (killed bool) {
	for !e.granted.Load() {
		if parkAt(me) {
			return true
		}
	}
	return false
}

// orGoroutine returns me. For nil or a nil *Thread it returns the calling thread or a new Waiter for a goroutine.
func orGoroutine(me Waiter) Waiter {
	if t, ok := me.(*Thread); me != nil && (!ok || t != nil) {
		return me
	}
	if t := Current(); t != nil {
		return t
	}
	return NewGoroutine()
}

// signalFrom signals the thread who. me: the caller or nil. Within a worker it costs no atomic operation.
func signalFrom(me, who Waiter) {
	if t, ok := me.(*Thread); ok && t != nil {
		t.w.wakeWaiter(who)
		return
	}
	who.Signal()
}
