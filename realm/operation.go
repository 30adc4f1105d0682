package realm

import (
	"container/heap"
	"fmt"
	"slices"

	"github.com/golci/golci/internal/realm/event"
	"github.com/golci/golci/internal/realm/reservation"
)

// CancelOperation cancels the operation whose finish event is e, if it has not begun: a task, a copy or another job on
// instances, a reduction, a merge, a deferred trigger, or an acquire whose precondition has not triggered. The event is
// poisoned then, with err as the cause; nil stands for ErrCanceled. It does not block. An operation of another rank is
// asked for there, and its event tells whether it has been canceled. A request that overtakes the operation on its way
// has no effect. Errors: ErrBegun if the operation has begun, or
// nothing but the program is to trigger e; ErrTriggered if it has ended; ErrArgument if another rank owns e.
func (rt *Runtime) CancelOperation(e Event, err error) error {
	if err == nil {
		err = ErrCanceled
	}
	return rt.change("CancelOperation", e, &change{cancel: rt.poison(err)})
}

// SetOperationPriority gives the task whose finish event is e another priority, wherever it is to run, if it has not
// begun. It does not block. Errors: those of CancelOperation; ErrArgument for what is no task.
func (rt *Runtime) SetOperationPriority(e Event, p int32) error {
	return rt.change("SetOperationPriority", e, &change{priority: p})
}

// change is what is to happen to an operation that has not begun.
type change struct {
	cancel   *event.Poison
	priority int32 // of a task; without cancel
}

func (rt *Runtime) change(what string, e Event, x *change) error {
	id := event.ID(e)
	if !rt.owns(id) {
		return rt.errorf(what, "%w: %v belongs to rank %d, or cannot be", ErrArgument, e, e.Rank())
	}
	c := rt.events.at(id.EventIndex())
	if c == nil {
		return rt.unknown(what, e)
	}
	c.lock.Lock()
	at := int(c.expect) - 1
	st, _ := c.slot.Look(id.Gen())
	c.lock.Unlock()
	switch {
	case st == event.Unknown:
		return rt.unknown(what, e)
	case st == event.Triggered:
		return rt.errorf(what, "%w: %v", ErrTriggered, e)
	case at != nobody:
		rt.postChange(at, id, x)
		return nil
	}
	k := rt.begin(nil)
	err := rt.changeOperation(k, id, x)
	k.end(callBudget)
	if err != nil {
		return rt.errorf(what, "%w: %v", err, e)
	}
	return nil
}

func (rt *Runtime) postChange(at int, e event.ID, x *change) {
	rt.postPoison(at, hChange, bytesOfPoison(x.cancel), uint64(e), uint64(uint32(x.priority)))
}

// takeChange: the rank that has this one do an operation wants it changed. It may have begun; then nothing happens.
func (rt *Runtime) takeChange(k *cascade, src int, args []uint64, payload []byte) error {
	e := event.ID(args[0])
	why, err := poisonIn(payload)
	if err != nil || !e.IsEvent() || e.EventRank() != src {
		return rt.impossible(src, "a change of", e)
	}
	x := &change{cancel: why, priority: int32(uint32(args[1]))}
	_ = rt.changeOperation(k, e, x) // its event tells what has become of it
	return nil
}

// pending is an operation that waits for its precondition by one waiter.
type pending interface {
	event.Op
	finishes() event.ID // the event that it triggers; 0: it has none, or has begun

	// cancel poisons that event. Nobody else knows the operation any more, whose memory may be free then.
	cancel(k *cascade, why *event.Poison)
}

func (t *task) finishes() event.ID      { return t.finish }
func (j *job) finishes() event.ID       { return j.finish }
func (x *reduction) finishes() event.ID { return x.finish }
func (f *forward) finishes() event.ID   { return f.to }

func (o *lockOp) finishes() event.ID {
	if o.what != opAcquire {
		return 0
	}
	return o.grant
}

func (j *job) cancel(k *cascade, why *event.Poison)       { j.over(k, why) }
func (x *reduction) cancel(k *cascade, why *event.Poison) { x.over(k, why) }

func (o *lockOp) cancel(k *cascade, why *event.Poison) { o.end(k, reservation.Refusal(o.c.id, why)) }

func (f *forward) cancel(k *cascade, why *event.Poison) {
	to := f.to
	k.rt.forwards.Put(f)
	k.trigger(to, why)
}

// waitsFor is where an operation was found.
type waitsFor struct {
	of event.ID
	w  *event.Waiter
}

// changeOperation changes the operation with that finish event, if it waits or is ready here.
func (rt *Runtime) changeOperation(k *cascade, finish event.ID, x *change) error {
	at, done := rt.waiting(k, finish, x)
	switch {
	case done:
		return nil
	case at.w == nil || !rt.withdraw(at.of, at.w): // else it becomes ready at this moment
		return rt.changeReady(k, finish, x)
	}
	op := at.w.Op.(pending)
	t, isTask := op.(*task)
	switch {
	case op.finishes() != finish: // another call has canceled it, and this is a new operation in its memory
		k.again(at)
		return ErrBegun
	case x.cancel != nil:
		op.cancel(k, rt.before(x.cancel, at.of))
		return nil
	case isTask:
		t.priority = x.priority
		k.again(at)
		return nil
	}
	k.again(at)
	return errNoTask
}

var errNoTask = fmt.Errorf("%w: what is no task has no priority", ErrArgument)

// again has an operation that was withdrawn wait as before.
func (k *cascade) again(at waitsFor) {
	if st, why := k.rt.await(at.of, at.w); st != event.Pending {
		at.w.Poison = why
		k.list.Push(at.w)
	}
}

// waiting finds the operation with that finish event among those that wait for their precondition. If it waits for
// several events, it is changed at once: done.
func (rt *Runtime) waiting(k *cascade, finish event.ID, c *change) (at waitsFor, done bool) {
	spare := rt.newEarlyEnd(c.cancel != nil)
	var ended *earlyEnd
	var t *task // of what is ended
	rt.eachWaiter(func(e event.ID, w *event.Waiter) {
		switch x := w.Op.(type) {
		case pending:
			if x.finishes() == finish {
				at = waitsFor{e, w}
			}
		case *merger: // it cannot end while a waiter of it is in a list, but for a poison
			switch {
			case x.to != finish || done:
			case c.cancel != nil:
				// Somebody else may end m at this moment, by a poison or another call. One of them does it.
				if done = true; x.early.CompareAndSwap(nil, spare) {
					ended, t = spare, x.task
				}
			case x.task != nil:
				done = true
				x.priority.Store(1<<32 | uint64(uint32(c.priority)))
			}
		}
	})
	switch {
	case ended == nil:
		spare.forgo(k)
	case t != nil:
		t.cancel(k, ended.poison(c.cancel))
	default:
		k.trigger(finish, ended.poison(c.cancel))
	}
	return at, done
}

// changeReady changes the task with that finish event if it is in a queue.
func (rt *Runtime) changeReady(k *cascade, finish event.ID, x *change) error {
	for _, q := range rt.queues() {
		t := q.remove(finish)
		if t == nil {
			continue
		}
		if x.cancel != nil {
			t.cancel(k, x.cancel)
			return nil
		}
		t.priority = x.priority
		t.executor.push(t, k)
		return nil
	}
	return ErrBegun
}

// cancel poisons the finish event of t, which nobody else knows any more.
func (t *task) cancel(k *cascade, why *event.Poison) {
	if t.watch != nil {
		t.passed()
	}
	finish := t.finish
	t.free()
	k.trigger(finish, why)
}

// remover is a queue of ready tasks.
type remover interface {
	remove(finish event.ID) *task
}

// queues are all queues of ready tasks.
func (rt *Runtime) queues() (qs []remover) {
	rt.procs.each(func(p *processor) { qs = append(qs, p) })
	qs = append(qs, rt.procs.io)
	if gs := rt.procs.groups.Load(); gs != nil {
		for _, g := range *gs {
			qs = append(qs, g)
		}
	}
	return qs
}

// remove implements remover. What the runner with the turn has taken already runs as it is.
func (p *processor) remove(finish event.ID) *task {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.ready.remove(finish); t != nil {
		return t
	}
	return p.first.remove(finish)
}

// remove implements remover.
func (g *group) remove(finish event.ID) *task {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.queue.remove(finish)
	g.looked()
	return t
}

// remove implements remover.
func (p *ioProcessor) remove(finish event.ID) *task {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue.remove(finish)
}

func (l *taskList) remove(finish event.ID) *task {
	var kept taskList
	var found *task
	for t := l.pop(); t != nil; t = l.pop() {
		if t.finish == finish {
			found = t
		} else {
			kept.push(t)
		}
	}
	*l = kept
	return found
}

func (h *taskHeap) remove(finish event.ID) *task {
	i := slices.IndexFunc(h.tasks, func(t *task) bool { return t.finish == finish })
	if i < 0 {
		return nil
	}
	return heap.Remove(&h.tasks, i).(*task)
}
