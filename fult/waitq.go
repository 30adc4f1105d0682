package fult

import "sync/atomic"

// waitq is the queue of those that wait at an object, first come, first served. The object's lock guards it.
type waitq struct {
	head, tail *entry
	free       *entry // entries for reuse, so that blocking does not allocate
}

// entry is one who waits. It belongs to the queue until granted, then to the waiter.
type entry struct {
	who     Waiter
	next    *entry
	granted atomic.Bool // set by the waker before it signals, under the object's lock
}

func (q *waitq) push(who Waiter) *entry {
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

// grant takes the first entry out and marks it; nil if nobody waits. The caller signals the result after it has
// released the object's lock.
func (q *waitq) grant() Waiter {
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
func (q *waitq) grantAll(whom []Waiter) []Waiter {
	for who := q.grant(); who != nil; who = q.grant() {
		whom = append(whom, who)
	}
	return whom
}

// remove takes e out of the middle, for one who gives up.
func (q *waitq) remove(e *entry) {
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

// recycle keeps an entry that its waiter is done with.
func (q *waitq) recycle(e *entry) {
	e.who = nil
	e.next, q.free = q.free, e
}

// await waits until e is granted; true if Close ends the waiter first.
func (e *entry) await(me Waiter) (killed bool) {
	for !e.granted.Load() {
		if parkAt(me) {
			return true
		}
	}
	return false
}

// orGoroutine makes a Waiter for a caller that gave none: nil, or the nil *Thread that Current returns outside threads. It is the
// thread that calls, if one does.
func orGoroutine(me Waiter) Waiter {
	if t, ok := me.(*Thread); me != nil && (!ok || t != nil) {
		return me
	}
	if t := Current(); t != nil {
		return t
	}
	return NewGoroutine()
}

// signalFrom signals who on behalf of me, which is the caller and may be nil. From a thread to another of its worker it
// costs no atomic operation.
func signalFrom(me, who Waiter) {
	if t, ok := me.(*Thread); ok && t != nil {
		t.w.wakeWaiter(who)
		return
	}
	who.Signal()
}
