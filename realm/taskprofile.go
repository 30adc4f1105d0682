package realm

import (
	"time"

	"github.com/golci/golci/realm/internal/event"
)

// taskProfile is the profile of a task that has ended, as the worker that ran it notes it. It takes one cache line,
// because another worker reads it later. Times are on the runtime's clock.
type taskProfile struct {
	finish                                           event.ID
	created, ready, started, ended, complete, waited uint64
	place                                            uint32 // of the task in the catalog, or noPlace
	waits                                            uint32 // times the task has waited; failed is one bit more
}

const (
	noPlace = 1<<32 - 1 // of a task of SpawnLocal
	failed  = 1 << 31
)

// taskBatch is profiles of tasks that a processor has run. It belongs to the runner that has the turn there, and then
// to the task of the utility processor that delivers it.
type taskBatch struct {
	of   [batchProfiles]taskProfile // first, so that each is a line
	n    int
	sink *Profiler
	proc Processor
}

// takes tells whether b, which may be nil, has room for a profile for sink.
func (b *taskBatch) takes(sink *Profiler) bool {
	return b != nil && b.sink == sink && b.n < batchProfiles
}

func (rt *Runtime) newTaskBatch(sink *Profiler, proc Processor) *taskBatch {
	b := rt.taskBatches.Get()
	if b == nil {
		b = new(taskBatch)
	}
	b.n, b.sink, b.proc = 0, sink, proc
	return b
}

// profileRoom is where the profile of the task that ends at c is to be noted before c runs anything else.
func (c *Ctx) profileRoom(sink *Profiler) *taskProfile {
	p := c.executor
	if p == nil {
		return new(taskProfile)
	}
	if !p.batch.takes(sink) {
		c.rt.deliverProfiles(p.batch)
		p.batch = c.rt.newTaskBatch(sink, p.id)
	}
	p.batch.n++
	return &p.batch.of[p.batch.n-1]
}

// noteEnd fills x for task t, which ends at c with or without a poison.
func (x *taskProfile) noteEnd(c *Ctx, t *task, end uint64, why *event.Poison) {
	w := t.watch
	*x = taskProfile{
		finish: t.finish, created: w.created, ready: w.ready, started: c.started, ended: end, waited: w.waited,
		place: noPlace, waits: uint32(min(w.waits, failed-1)),
	}
	if t.def != nil && t.local == nil {
		x.place = uint32(t.rt.catalog.place[t.def.serial])
	}
	if why != nil {
		x.waits |= failed
	}
}

// completed notes that the finish event of the task has triggered.
func (x *taskProfile) completed(c *Ctx, sink *Profiler) {
	x.complete = c.rt.clock.Now()
	if c.executor == nil {
		full := x.profile(c.rt, c.proc)
		c.rt.profile(sink, &full)
	}
}

// profile is what the program is told of a task of processor p.
func (x *taskProfile) profile(rt *Runtime, p Processor) OperationProfile {
	full := OperationProfile{
		Finish: Event(x.finish), Task: localName, Processor: p,
		Waits: int(x.waits &^ failed), Waited: time.Duration(x.waited),
		Create: time.Duration(x.created), Ready: time.Duration(x.ready), Start: time.Duration(x.started),
		End: time.Duration(x.ended), Complete: time.Duration(x.complete),
	}
	if x.place != noPlace {
		full.Task = rt.catalog.defs[x.place].name
	}
	if x.waits&failed != 0 {
		full.Outcome = Failed
	}
	return full
}

// deliverProfiles has the profiler get b, which may be nil. It neither blocks nor runs the program's code.
func (rt *Runtime) deliverProfiles(b *taskBatch) {
	if b == nil {
		return
	}
	rt.utility.pushTask(rt.newInternal(func(*Ctx) error {
		out := rt.newBatch(b.sink)
		for i := range b.of[:b.n] {
			out.list = append(out.list, b.of[i].profile(rt, b.proc))
		}
		rt.taskBatches.Put(b)
		rt.handOver(out)
		return nil
	}), nil)
}
