package realm

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golci/golci/internal/observe/trace"
	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm/internal/event"
)

// probe records what the runtime does for the timeline of a rank; nil without one.
type probe struct {
	r                  *rank.Rank
	tasks              []trace.Name // by serial
	function, wait, on trace.Name
	spawn, slept       trace.Name

	onData       trace.Name
	kinds, whole [operationKinds]trace.Name // pieces of operations other than tasks, and all of them
	arrived      [operationKinds]trace.Name // what is done for such operations of other ranks
	hold, phase  trace.Name

	queues sync.Map // of *atomic.Int64, by executor: its tasks that are ready
}

func newProbe(r *rank.Rank, defs []*registration) *probe {
	rec := r.Trace()
	if rec == nil {
		return nil
	}
	name := func(text, category string, args ...string) trace.Name {
		l := trace.Label{Text: text, Category: category}
		copy(l.Args[:], args)
		return rec.Name(l)
	}
	p := &probe{
		r: r, tasks: make([]trace.Name, len(defs)), function: name(localName, "task", "finish"),
		wait:   name("wait", "wait", "finish", "event"),
		slept:  name("call waits", "wait", "event"),
		on:     name("ready", "task", "finish"),
		spawn:  name("spawn", "spawn", "finish", "after"),
		onData: name("ready", "operation", "finish"),
		hold:   name("hold", "reservation", "reservation", "from"),
		phase:  name("phase", "barrier", "barrier", "phase"),
	}
	for _, d := range defs {
		p.tasks[d.serial] = name(d.name, "task", "finish")
	}
	for k := range operationKinds {
		p.kinds[k] = name(k.String(), "operation", "peer", "bytes", "finish")
		p.whole[k] = name(k.String(), "whole", "peer", "bytes", "finish")
		p.arrived[k] = name(k.String()+" for", "operation", "peer", "bytes")
	}
	p.whole[OperationAcquire] = name("acquire", "reservation", "reservation", "from", "grant")
	p.kinds[OperationArrive] = name("arrive", "barrier", "barrier", "count")
	return p
}

// nameOf is the name of t's slices.
func (p *probe) nameOf(t *task) trace.Name {
	if t.def != nil && t.local == nil && t.def.serial < len(p.tasks) {
		return p.tasks[t.def.serial]
	}
	return p.function
}

// track is that of the worker that runs the cascade, if it is known.
func (k *cascade) track() *trace.Track {
	if k == nil || k.w == nil {
		return nil
	}
	return k.rt.r.WorkerTrack(k.w.ID())
}

// addRecords records on track l, which belongs to the caller, or on whatever track the caller has. Arrows that stand
// alone come after their slice, in one call.
func (p *probe) addRecords(l *trace.Track, all ...trace.Record) {
	if l == nil {
		var shared bool
		if l, shared = p.r.CallerTrack(); shared {
			l.AddShared(all...)
			return
		}
	}
	for i := range all {
		l.Add(all[i])
	}
}

// workSlice records a slice as add does. On a track that goroutines share, where slices may overlap, it is a span.
func (p *probe) workSlice(l *trace.Track, e trace.Record) {
	if l == nil {
		if _, shared := p.r.CallerTrack(); shared {
			e.Kind = trace.Span
		}
	}
	p.addRecords(l, e)
}

func (t *task) unwatch() {
	t.rt.watches.Put(t.watch)
	t.watch = nil
}

// spawned notes that t is being spawned, by the task of c if it is not nil, to begin after an event. Of the events of
// several the first stands for all. An arrow leads from there to where t is ready.
func (t *task) spawned(c *Ctx, after Event, several []Event) {
	w := t.watch
	if c != nil {
		w.track = c.track
	}
	if len(several) > 0 && after == NoEvent {
		after = several[0]
	}
	if p := t.rt.probe; p != nil && after != NoEvent {
		now := t.rt.clock.Now()
		p.addRecords(w.track, trace.Record{
			Start: now, End: now, A: uint64(t.finish), B: uint64(after), Flow: uint64(t.finish), Name: p.spawn,
			Kind: trace.Slice | trace.FlowOut,
		})
	}
	t.watch.after = after != NoEvent
}

// readied notes that t is ready. An arrow leads from there to the beginning of the task.
func (t *task) readied(l *trace.Track) {
	now := t.rt.clock.Now()
	t.watch.ready = now
	if p := t.rt.probe; p != nil && t.finish != 0 {
		all := [...]trace.Record{
			{
				Start: now, End: now, A: uint64(t.finish), Flow: uint64(t.finish), Name: p.on,
				Kind: trace.Slice | trace.FlowOut,
			},
			{Start: now, Flow: uint64(t.finish), Name: p.spawn, Kind: trace.FlowIn},
		}
		if t.watch.after {
			p.addRecords(l, all[:]...)
		} else {
			p.addRecords(l, all[0])
		}
		t.watch.queue = p.queue(t.executor)
		t.watch.queue.Add(1)
	}
}

// starts notes that t runs at c.
func (t *task) starts(c *Ctx) {
	c.started = t.rt.clock.Now()
	c.since = c.started
	t.watch.leaves()
}

// finishWatched is finishWith for a task that is watched.
func (t *task) finishWatched(c *Ctx, why *event.Poison) {
	end := t.rt.clock.Now()
	if p := t.rt.probe; p != nil {
		p.ran(c, t, end)
	}
	var x *taskProfile
	if sink := t.watch.sink; sink != nil {
		x = c.profileRoom(sink)
		x.noteEnd(c, t, end, why)
	}
	finish, sink := t.finish, t.watch.sink
	t.freeTask()
	if finish != 0 {
		c.cascade.trigger(finish, why)
	}
	if x != nil {
		x.completed(c, sink)
	}
	c.cascade.runWaiters(callBudget)
}

// ran records that t has run since it started or went on. The arrow ends in its first slice. Tasks on goroutines
// overlap, and are spans.
func (p *probe) ran(c *Ctx, t *task, end uint64) {
	e := trace.Record{Start: c.since, End: end, A: uint64(t.finish), Name: p.nameOf(t), Kind: trace.Slice}
	if c.track == nil {
		e.Kind = trace.Span
	} else if c.since == c.started && t.finish != 0 {
		e.Flow = uint64(t.finish)
		e.Kind |= trace.FlowIn
	}
	p.addRecords(c.track, e)
}

// pauses ends the slice of the task that waits, if it is watched; resumes begins the next one.
func (c *Ctx) pauses() (paused uint64) {
	if c.task.watch == nil {
		return 0
	}
	paused = c.rt.clock.Now()
	if p := c.rt.probe; p != nil {
		p.ran(c, c.task, paused)
	}
	return paused
}

func (c *Ctx) resumes(paused uint64, e event.ID) {
	if paused == 0 {
		return
	}
	c.since = c.rt.clock.Now()
	w := c.task.watch
	w.waits++
	w.waited += c.since - paused
	if p := c.rt.probe; p != nil {
		p.addRecords(c.track, trace.Record{
			Start: paused, End: c.since, A: uint64(c.task.finish), B: uint64(e), Name: p.wait, Kind: trace.Span,
		})
	}
}

// sleepTraced is Runtime.sleepFor. It records that a goroutine, or a thread that is no task, waits for e.
func (p *probe) sleepTraced(ctx context.Context, rt *Runtime, call callName, e Event) error {
	start := rt.clock.Now()
	err := rt.sleepFor(ctx, call, e, nil)
	p.addRecords(nil, trace.Record{Start: start, End: rt.clock.Now(), A: uint64(e), Name: p.slept, Kind: trace.Span})
	return err
}

// passed delivers the profile of t, which does not run.
func (t *task) passed() {
	t.watch.leaves()
	if t.watch.sink == nil {
		return
	}
	w := t.watch
	t.rt.profile(w.sink, &OperationProfile{
		Outcome: Skipped, Finish: Event(t.finish), Task: t.taskName(), Processor: nameOf(t.executor),
		Create: time.Duration(w.created), Ready: time.Duration(w.ready), Complete: t.rt.now(),
	})
}

// nameOf is the processor whose tasks x runs.
func nameOf(x executor) Processor {
	switch x := x.(type) {
	case *processor:
		return x.id
	case *group:
		return x.id
	case *ioProcessor:
		return x.id
	}
	return 0
}

// queue counts the tasks that are ready for x.
func (p *probe) queue(x executor) *atomic.Int64 {
	if n, ok := p.queues.Load(x); ok {
		return n.(*atomic.Int64)
	}
	n, known := p.queues.LoadOrStore(x, new(atomic.Int64))
	if !known {
		p.r.Count("ready for "+nameOf(x).String(), n.(*atomic.Int64).Load)
	}
	return n.(*atomic.Int64)
}

// leaves notes that a task is in no queue any more.
func (w *operationTrace) leaves() {
	if w.queue != nil {
		w.queue.Add(-1)
		w.queue = nil
	}
}

// countInTimeline has the timeline show what there is of this rank.
func (rt *Runtime) countInTimeline() {
	if rt.probe == nil {
		return
	}
	rt.r.Count("live events", func() (n int64) {
		rt.events.eachCell(func(c *cell) {
			c.lock.Lock()
			if _, alive := c.slot.Alive(); alive {
				n++
			}
			c.lock.Unlock()
		})
		return n
	})
	for kind := range memoryKinds {
		if m := rt.Memory(kind); rt.storeOf(m) != nil {
			rt.r.Count("bytes in "+m.String(), func() int64 {
				_, used := rt.MemoryUse(m)
				return used
			})
		}
	}
}
