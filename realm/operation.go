package realm

import (
	"container/heap"
	"fmt"
	"slices"

	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/reservation"
)

// CancelOperation cancels the operation whose finish event is e, if it has not begun: a task, a copy or another job on
// instances, a reduction, a merge, a deferred trigger, or an acquire whose precondition has not triggered. The event is
// poisoned then, with err as the cause; nil stands for ErrCanceled. It does not block. An operation of another rank is
// asked for there, and its event tells whether it has been canceled. A request that overtakes the operation on its way
// has no effect. Errors: ErrBegun if the operation has begun, or nothing but the program is to trigger e; ErrTriggered
// if it has ended; ErrArgument if another rank owns e.
//
// An operation that waits for an event of this rank is found without a look at others. The search for one that waits
// for a barrier or for an event of another rank takes a time in proportion to what waits for that here. The search for
// a task whose precondition has triggered takes one in proportion to the tasks that are to run here.
func (rt *Runtime) CancelOperation(e Event, err error) error {
	if err == nil {
		err = ErrCanceled
	}
	return rt.change("CancelOperation", e, &change{cancel: rt.ev.FaultPoison(err)})
}

// SetOperationPriority gives the task whose finish event is e another priority, wherever it is to run, if it has not
// begun. It does not block, and takes as long as CancelOperation. Errors: those of CancelOperation; ErrArgument for
// what is no task.
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
	if !rt.ev.Owns(id) {
		return rt.ev.CallErrorf(what, "%w: %v belongs to rank %d, or cannot be", ErrArgument, e, e.Rank())
	}
	c := rt.ev.Events.CellAt(id.EventIndex())
	if c == nil {
		return rt.unknown(what, e)
	}
	c.Lock.Lock()
	by := c.Expect
	st, _ := c.Slot.Look(id.Gen())
	c.Lock.Unlock()
	switch {
	case st == event.Unknown:
		return rt.unknown(what, e)
	case st == event.Triggered:
		return rt.ev.CallErrorf(what, "%w: %v", ErrTriggered, e)
	case by > events.None:
		rt.postChange(int(by)-1, id, x)
		return nil
	}
	k := rt.ev.BeginCascade(nil)
	err := rt.changeOperation(k, id, x)
	k.EndCascade(events.CallBudget)
	if err != nil {
		return rt.ev.CallErrorf(what, "%w: %v", err, e)
	}
	return nil
}

func (rt *Runtime) postChange(at int, e event.ID, x *change) {
	rt.ev.PostPoison(at, events.HChange, events.BytesOfPoison(x.cancel), uint64(e), uint64(uint32(x.priority)))
}

// takeChange: the rank that has this one do an operation wants it changed. It may have begun; then nothing happens.
func (rt *Runtime) takeChange(k *events.Cascade, src int, args []uint64, payload []byte) error {
	e := event.ID(args[0])
	why, err := events.PoisonIn(payload)
	if err != nil || !e.IsEvent() || e.EventRank() != src {
		return rt.ev.Impossible(src, "a change of", e)
	}
	x := &change{cancel: why, priority: int32(uint32(args[1]))}
	_ = rt.changeOperation(k, e, x) // its event tells what has become of it
	return nil
}

// changeable is an operation that waits for its precondition by one waiter.
type changeable interface {
	event.Op
	FinishEvent() event.ID // the event that it triggers; 0: it has none, or has begun

	// cancel poisons that event. Nobody else knows the operation any more, whose memory may be free then.
	CancelOp(k *events.Cascade, why *event.Poison)
}

func (t *task) FinishEvent() event.ID      { return t.finish }
func (j *job) FinishEvent() event.ID       { return j.finish }
func (x *reduction) FinishEvent() event.ID { return x.finish }

func (o *lockOp) FinishEvent() event.ID {
	if o.what != opAcquire {
		return 0
	}
	return o.grant
}

func (j *job) CancelOp(k *events.Cascade, why *event.Poison)       { j.finishJob(k, why) }
func (x *reduction) CancelOp(k *events.Cascade, why *event.Poison) { x.finishReduction(k, why) }

func (o *lockOp) CancelOp(k *events.Cascade, why *event.Poison) {
	o.endAcquire(k, reservation.Refusal(o.c.id, why))
}

// changeOperation changes the operation with that finish event, if it waits or is ready here.
func (rt *Runtime) changeOperation(k *events.Cascade, finish event.ID, x *change) error {
	at := rt.ev.ClaimWait(finish, false)
	switch {
	case at.By == nil:
	case at.Of == 0:
		if m, is := at.By.Op.(*merger); is {
			return rt.changeMerger(k, finish, m, x)
		}
	default:
		return rt.changeWaiting(k, finish, at, x)
	}
	return rt.changeReady(k, finish, x)
}

// changeWaiting changes an operation that was claimed, unless it has begun since it was entered.
func (rt *Runtime) changeWaiting(k *events.Cascade, finish event.ID, at events.WaitsFor, x *change) error {
	if !rt.withdrawClaimed(at) { // it becomes ready at this moment, or has been so for long
		return rt.changeReady(k, finish, x)
	}
	op := at.By.Op.(changeable)
	t, isTask := op.(*task)
	switch {
	case op.FinishEvent() != finish: // it has begun, and this is a new operation in its memory
		rt.back(k, at)
		return rt.changeReady(k, finish, x)
	case x.cancel != nil:
		op.CancelOp(k, rt.poisonBefore(x.cancel, at.Of))
		return nil
	case isTask:
		t.priority = x.priority
	}
	rt.ev.Arrives(finish, at)
	if rt.back(k, at) {
		rt.ev.EnterWait(finish, at, events.Once)
	}
	if !isTask {
		return errNoTask
	}
	return nil
}

var errNoTask = fmt.Errorf("%w: what is no task has no priority", ErrArgument)

// withdrawClaimed is withdraw of an operation that was claimed. If it waits for an event of this rank, its cost does
// not depend on how many others wait.
func (rt *Runtime) withdrawClaimed(at events.WaitsFor) bool {
	if !rt.ev.Owns(at.Of) {
		return rt.ev.Withdraw(at.Of, at.By)
	}
	c := rt.ev.Events.CellAt(at.Of.EventIndex())
	if c == nil {
		return false
	}
	c.Lock.Lock()
	defer c.Lock.Unlock()
	return c.Slot.Leave(at.Of.Gen(), at.By)
}

// back makes an operation that was withdrawn wait again. False if it need not wait any more.
func (rt *Runtime) back(k *events.Cascade, at events.WaitsFor) bool {
	st, why := rt.ev.AwaitEvent(at.Of, at.By)
	if st != event.Pending {
		at.By.Poison = why
		k.List.Push(at.By)
	}
	return st == event.Pending
}

// changeMerger changes what waits for several events. A merger cannot be withdrawn: it ends early.
func (rt *Runtime) changeMerger(k *events.Cascade, finish event.ID, m *merger, x *change) error {
	if x.cancel == nil {
		isTask := false
		there := rt.withMerger(finish, m, func() {
			if isTask = m.task != nil; isTask {
				m.priority.Store(1<<32 | uint64(uint32(x.priority)))
			}
		})
		switch {
		case !there:
			return rt.changeReady(k, finish, x)
		case !isTask:
			return errNoTask
		}
		return nil
	}
	end := rt.newEarlyEnd(true)
	why := end.poisonMerger(x.cancel) // before m has end, which the last of its events reads
	var t *task
	won := false
	there := rt.withMerger(finish, m, func() {
		t = m.task
		won = m.early.CompareAndSwap(nil, end) // else a poison or another call ends it at this moment
	})
	switch {
	case !won:
		end.forgo(k)
		if !there {
			return rt.changeReady(k, finish, x)
		}
	case t != nil:
		t.CancelOp(k, why)
	default:
		k.Trigger(finish, why)
	}
	return nil
}

// changeReady changes the task with that finish event if it is in a queue.
func (rt *Runtime) changeReady(k *events.Cascade, finish event.ID, x *change) error {
	for _, q := range rt.queues() {
		t := q.removeTask(finish)
		if t == nil {
			continue
		}
		if x.cancel != nil {
			t.CancelOp(k, x.cancel)
			return nil
		}
		t.priority = x.priority
		t.executor.pushTask(t, k)
		return nil
	}
	return ErrBegun
}

// CancelOp poisons the finish event of t, which nobody else knows any more.
func (t *task) CancelOp(k *events.Cascade, why *event.Poison) {
	t.skip()
	finish := t.finish
	t.freeTask()
	k.Trigger(finish, why)
}

// remover is a queue of ready tasks.
type remover interface {
	removeTask(finish event.ID) *task
}

// queues are all queues of ready tasks.
func (rt *Runtime) queues() (qs []remover) {
	rt.procs.eachRunning(func(p *processor) { qs = append(qs, p) })
	qs = append(qs, rt.procs.io)
	if gs := rt.procs.groups.Load(); gs != nil {
		for _, g := range *gs {
			qs = append(qs, g)
		}
	}
	return qs
}

// removeTask implements remover. What the runner with the turn has taken already runs as it is.
func (p *processor) removeTask(finish event.ID) *task {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.ready.removeTask(finish); t != nil {
		return t
	}
	return p.first.removeTask(finish)
}

// removeTask implements remover.
func (g *group) removeTask(finish event.ID) *task {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.queue.removeTask(finish)
	g.looked()
	return t
}

// removeTask implements remover.
func (p *ioProcessor) removeTask(finish event.ID) *task {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue.removeTask(finish)
}

func (l *taskList) removeTask(finish event.ID) *task {
	var kept taskList
	var found *task
	for t := l.popTask(); t != nil; t = l.popTask() {
		if t.finish == finish {
			found = t
		} else {
			kept.pushTask(t)
		}
	}
	*l = kept
	return found
}

func (h *taskHeap) removeTask(finish event.ID) *task {
	i := slices.IndexFunc(h.tasks, func(t *task) bool { return t.finish == finish })
	if i < 0 {
		return nil
	}
	return heap.Remove(&h.tasks, i).(*task)
}
