package realm

import (
	"container/heap"
	"slices"

	"github.com/golci/golci/comm/am"
	"github.com/golci/golci/internal/realm/event"
)

// CancelOperation cancels the task whose finish event is e, wherever it is to run, if it has not begun. Its finish
// event is poisoned then, with err as the cause; nil stands for ErrCanceled. A task that runs, or has ended, goes on
// as if nothing had been asked. It does not block. ErrArgument: e is not an event of this rank.
func (rt *Runtime) CancelOperation(e Event, err error) error {
	if err == nil {
		err = ErrCanceled
	}
	return rt.change("CancelOperation", e, &change{cancel: rt.poison(err)})
}

// SetOperationPriority gives the task whose finish event is e another priority, wherever it is to run, if it has not
// begun. It does not block. ErrArgument: e is not an event of this rank.
func (rt *Runtime) SetOperationPriority(e Event, p int32) error {
	return rt.change("SetOperationPriority", e, &change{priority: p})
}

// change is what is to happen to a task that has not begun.
type change struct {
	cancel   *event.Poison
	priority int32 // without cancel
}

func (rt *Runtime) change(what string, e Event, x *change) error {
	id := event.ID(e)
	if !rt.owns(id) {
		return rt.errorf(what, "%w: %v belongs to another rank, or cannot be", ErrArgument, e)
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
		return nil
	case at != nobody:
		rt.postChange(at, id, x)
		return nil
	}
	k := rt.begin(nil)
	rt.changeTask(k, id, x)
	k.end(callBudget)
	return nil
}

func (rt *Runtime) postChange(at int, e event.ID, x *change) {
	var why []byte
	if x.cancel != nil {
		why = x.cancel.Append(nil)
	}
	rt.post(at, hChange, why, uint64(e), uint64(uint32(x.priority)))
}

// onChange: the rank that has spawned a task here wants it changed.
func (rt *Runtime) onChange(t *am.Token, args []uint64, payload []byte) {
	x := &change{priority: int32(uint32(args[1]))}
	if e := event.ID(args[0]); !e.IsEvent() || e.EventRank() != t.Source() {
		rt.malformed(t, "a change of", e)
		return
	}
	if len(payload) > 0 {
		var err error
		if x.cancel, _, err = event.ParsePoison(payload); err != nil {
			rt.malformed(t, "a change of", event.ID(args[0]))
			return
		}
	}
	k := rt.begin(t.Worker())
	rt.changeTask(k, event.ID(args[0]), x)
	k.end(pollBudget)
}

// changeTask changes the task with that finish event, if it waits or is ready here.
func (rt *Runtime) changeTask(k *cascade, finish event.ID, x *change) {
	t, of, done := rt.waitingTask(finish, x)
	if done {
		if t != nil {
			t.cancel(k, x.cancel)
		}
		return
	}
	if t != nil && !rt.withdraw(of, &t.Waiter) {
		t = nil // it becomes ready at this moment
	}
	switch {
	case t != nil && t.finish != finish: // another call has canceled it, and this is a new task in its memory
		if st, why := rt.await(of, &t.Waiter); st != event.Pending {
			t.begin(k, why)
		}
	case t == nil:
		rt.changeReady(k, finish, x)
	case x.cancel != nil:
		t.cancel(k, x.cancel)
	default:
		t.priority = x.priority
		if st, why := rt.await(of, &t.Waiter); st != event.Pending {
			t.begin(k, why)
		}
	}
}

// waitingTask finds the task with that finish event among those that wait for their precondition. If it waits for
// several events, done is true: it has the new priority, or t is it if it is to be canceled and has not been.
func (rt *Runtime) waitingTask(finish event.ID, c *change) (t *task, of event.ID, done bool) {
	rt.eachWaiter(func(e event.ID, w *event.Waiter) {
		switch x := w.Op.(type) {
		case *task:
			if x.finish == finish {
				t, of = x, e
			}
		case *merger: // it cannot end while a waiter of it is in a list, but for a poison
			if x.task == nil || x.to != finish || done {
				return
			}
			done = true
			if c.cancel == nil {
				x.priority.Store(1<<32 | uint64(uint32(c.priority)))
			} else if x.poisoned.CompareAndSwap(false, true) {
				t = x.task
			}
		}
	})
	return t, of, done
}

// changeReady changes the task with that finish event if it is in a queue.
func (rt *Runtime) changeReady(k *cascade, finish event.ID, x *change) {
	for _, q := range rt.queues() {
		t := q.remove(finish)
		if t == nil {
			continue
		}
		if x.cancel != nil {
			t.cancel(k, x.cancel)
			return
		}
		t.priority = x.priority
		t.executor.push(t, k)
		return
	}
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
	return g.queue.remove(finish)
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
