package realm

import (
	"fmt"
	"unsafe"

	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/observe"
)

// inlineWords is how much of a task's arguments is part of the task.
const inlineWords = 8

// task is one execution of a function. It belongs to its precondition, then to its processor, then to its runner. It
// takes three cache lines. A flood of tasks costs as much as the lines that are not in the cache, so what all tasks use
// comes first, then the arguments.
type task struct {
	event.Waiter       // of the precondition
	next         *task // in a queue
	rt           *Runtime
	def          *registration
	finish       event.ID
	executor     executor
	priority     int32
	ignore       bool               // runs even if the precondition is poisoned
	serial       uint64             // orders tasks of the same priority
	watch        *observe.Operation // nil unless somebody wants to know of the task
	local        func(c *Ctx) error
	large        *large // nil in most tasks
	inline       [inlineWords]uint64
}

// large is arguments that the task itself has no room for.
type large struct {
	plain   []uint64 // without pointers, in the place of inline
	encoded []byte   // with pointers
}

func (rt *Runtime) newTask() *task {
	t := rt.tasks.Get()
	if t == nil {
		t = &task{rt: rt}
		t.Op = t
	}
	return t
}

// freeTask gives t back.
func (t *task) freeTask() {
	if t.local != nil || t.large != nil { // a look costs less than a store to the pointers
		t.local, t.large = nil, nil
	}
	if t.watch != nil {
		t.rt.ev.Log.Drop(t.watch)
		t.watch = nil
	}
	t.rt.tasks.Put(t)
}

// args is where the arguments of a task are that have no pointers.
func (t *task) args() unsafe.Pointer {
	if t.large != nil {
		return unsafe.Pointer(&t.large.plain[0])
	}
	return unsafe.Pointer(&t.inline)
}

// argsRoom makes room for n bytes of arguments.
func (t *task) argsRoom(n uintptr) {
	if n > unsafe.Sizeof(t.inline) {
		t.large = &large{plain: make([]uint64, (n+7)/8)}
	}
}

// launchAfter has t become ready once after has triggered. Its finish event is that of NewEventFor if there is an
// after.
func (t *task) launchAfter(after event.ID) {
	if after == 0 {
		if t.watch != nil {
			t.rt.ev.Log.NoteReady(t.watch, t.watch.By, t.executor)
		}
		t.executor.pushTask(t, nil)
		return
	}
	if st, why := t.rt.ev.AwaitEvent(after, &t.Waiter); st != event.Pending {
		if st == event.Unknown {
			t.rt.ev.LeaveIndex(t.finish) // after may be created later
		}
		k := t.rt.ev.BeginCascade(nil)
		t.beginAt(k, after, st, why)
		k.EndCascade(events.CallBudget)
	}
}

// beginAt is begin when after was not pending.
func (t *task) beginAt(k *events.Cascade, after event.ID, st event.Status, why *event.Poison) {
	if st == event.Unknown {
		why = t.rt.ev.FaultPoison(t.rt.unknown("Spawn", Event(after)))
	}
	t.beginTask(k, why)
}

// Fire implements event.Op.
func (t *task) Fire(w *event.Waiter, by any) {
	t.rt.ev.Departs(t.finish)
	t.beginTask(by.(*events.Cascade), w.Poison)
}

// beginTask makes t ready, unless its precondition is poisoned.
func (t *task) beginTask(k *events.Cascade, why *event.Poison) {
	if why == nil || t.ignore {
		if t.watch != nil {
			t.rt.ev.Log.NoteReady(t.watch, k.By, t.executor)
		}
		t.executor.pushTask(t, k)
		return
	}
	t.skip()
	finish := t.finish
	t.freeTask()
	if finish != 0 {
		k.Trigger(finish, why)
	}
}

// runTask runs t at c, and triggers its finish event.
func (t *task) runTask(c *Ctx) {
	c.task = t
	if t.watch != nil {
		t.rt.ev.Log.NoteStart(t.watch)
	}
	var err error
	switch {
	case t.local == nil:
		err = t.def.run(c, t)
	default:
		err = t.local(c)
	}
	c.task, c.holds = nil, 0
	t.finishWith(c, err)
}

// finishWith triggers the finish event of t, poisoned if there is an error, and frees t.
func (t *task) finishWith(c *Ctx, err error) {
	finish := t.finish
	var why *event.Poison
	if err != nil {
		why = t.fault(c, err)
	}
	if t.watch != nil {
		t.finishWatched(c, why)
		return
	}
	if t.finish == 0 && err != nil { // nobody else can be told
		t.rt.ev.Fatal(fmt.Errorf("realm: rank %d: on %v: %w", t.rt.ev.Self, c.proc, err))
	}
	t.freeTask()
	switch {
	case finish == 0:
		return
	case why == nil && c.executor != nil && finish.EventRank() != c.rt.ev.Self:
		c.executor.endTask(&c.cascade, finish)
	default:
		c.cascade.Trigger(finish, why)
	}
	c.cascade.RunWaiters(events.CallBudget)
}

// spawned notes that t is being spawned, by the task of c if it is not nil.
func (t *task) spawned(c *Ctx, after Event, several []Event) {
	if c != nil {
		t.watch.By = c.cascade.By
	}
	if t.local == nil {
		t.watch.SetPlace(t.rt.catalog.placeOf(t.def))
	} else {
		t.watch.SetPlace(observe.Nowhere)
	}
	if len(several) > 0 && after == NoEvent {
		after = several[0]
	}
	t.rt.ev.Log.NoteSpawn(t.watch, uint64(after))
}

// finishWatched is finishWith for a task that is watched.
func (t *task) finishWatched(c *Ctx, why *event.Poison) {
	rt, w, finish := t.rt, t.watch, t.finish
	w.Record[observe.Processor] = uint64(c.proc)
	rt.ev.Log.NoteEnd(w, c.cascade.By)
	t.watch = nil
	t.freeTask()
	c.cascade.Trigger(finish, why)
	var own **observe.Batch
	if c.executor != nil {
		own = &c.executor.batch
	}
	rt.ev.Log.Complete(w, why != nil, own)
	c.cascade.RunWaiters(events.CallBudget)
}

// skip notes that t does not run.
func (t *task) skip() {
	if w := t.watch; w != nil {
		w.Record[observe.Processor] = uint64(nameOf(t.executor))
		t.rt.ev.Log.NoteSkipped(w)
		t.watch = nil
	}
}

// fault is the poison of a task that has returned err. The error of a wait is the poison that the wait has met: the
// fault began elsewhere, and its text must not grow along a chain of such tasks.
func (t *task) fault(c *Ctx, err error) *event.Poison {
	if p, ok := err.(*PoisonError); ok && p != nil { // as it is: what the task has wrapped says more
		return p.toPoison()
	}
	return t.rt.ev.FaultPoison(fmt.Errorf("task %s on %v: %w", t.taskName(), c.proc, err))
}

// taskName is the name of the task, for people.
func (t *task) taskName() string {
	if t.def != nil && t.local == nil {
		return t.def.name
	}
	return localName
}

// localName stands for the name of a task of SpawnLocal.
const localName = observe.Function

// title names the task and its finish event, for people.
func (t *task) title() string {
	if t.finish == 0 {
		return "a task of the runtime"
	}
	return fmt.Sprintf("task %s of %v", t.taskName(), t.finish)
}

// newInternal makes a task of the runtime itself, without a finish event.
func (rt *Runtime) newInternal(f func(c *Ctx) error) *task {
	t := rt.newTask()
	t.finish, t.priority, t.local, t.executor = 0, 0, f, nil
	return t
}
