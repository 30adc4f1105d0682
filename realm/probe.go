package realm

import (
	"time"

	"github.com/golci/golci/comm/rank"
	"github.com/golci/golci/internal/realm/event"
	"github.com/golci/golci/internal/trace"
)

// probe records tasks for the timeline of a rank; nil without one.
type probe struct {
	r                  *rank.Rank
	tasks              []trace.Name // by serial
	function, wait, on trace.Name
}

func newProbe(r *rank.Rank, defs []*definition) *probe {
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
		r: r, tasks: make([]trace.Name, len(defs)), function: name("function", "task", "finish"),
		wait: name("wait", "wait", "finish", "event"),
		on:   name("ready", "task", "finish"),
	}
	for _, d := range defs {
		p.tasks[d.serial] = name(d.name, "task", "finish")
	}
	return p
}

// nameOf is the name of t's slices.
func (p *probe) nameOf(t *task) trace.Name {
	if t.def != nil && t.local == nil && t.def.serial < len(p.tasks) {
		return p.tasks[t.def.serial]
	}
	return p.function
}

// lane is that of the worker that runs the cascade, if it is known.
func (k *cascade) lane() *trace.Lane {
	if k == nil || k.w == nil {
		return nil
	}
	return k.rt.r.WorkerLane(k.w.ID())
}

// add records e on lane l, which belongs to the caller, or on whatever lane the caller has.
func (p *probe) add(l *trace.Lane, e trace.Record) {
	if l != nil {
		l.Add(e)
		return
	}
	if l, shared := p.r.CallerLane(); shared {
		l.AddShared(e)
	} else {
		l.Add(e)
	}
}

// watch is what is noted of a task that somebody wants to know of.
type watch struct {
	sink    *Profiler // nil for the timeline alone
	created uint64    // on the runtime's clock, as ready
	ready   uint64
	lane    *trace.Lane // of the task that spawns it, for the time of that call; nil if it is not known
}

// watchFor has t watched, for the timeline and, unless it is nil, for sink.
func (t *task) watchFor(sink *Profiler) {
	w := t.rt.watches.Get()
	if w == nil {
		w = new(watch)
	}
	*w = watch{sink: sink}
	t.watch = w
}

func (t *task) unwatch() {
	t.rt.watches.Put(t.watch)
	t.watch = nil
}

// watchSpawned has t watched, which rank src has spawned here. sink is the number of its profiler there; 0: none.
func (rt *Runtime) watchSpawned(t *task, src int, sink uint32) {
	var p *Profiler
	if sink != 0 {
		p = rt.remoteProfiler(src, sink)
	}
	t.watchFor(p)
	t.watch.created = rt.clock.Now()
}

// spawned notes that t has been spawned, by the task of c if it is not nil.
func (t *task) spawned(c *Ctx) {
	if t.watch.sink != nil {
		t.watch.created = t.rt.clock.Now()
	}
	if c != nil {
		t.watch.lane = c.lane
	}
}

// readied notes that t is ready. An arrow leads from there to the beginning of the task.
func (t *task) readied(l *trace.Lane) {
	now := t.rt.clock.Now()
	t.watch.ready = now
	if p := t.rt.probe; p != nil && t.finish != 0 {
		p.add(l, trace.Record{
			Start: now, End: now, A: uint64(t.finish), Flow: uint64(t.finish), Name: p.on,
			Kind: trace.Slice | trace.FlowOut,
		})
	}
}

// starts notes that t runs at c.
func (t *task) starts(c *Ctx) {
	c.started = t.rt.clock.Now()
	c.since = c.started
}

// finishWatched is finishWith for a task that is watched.
func (t *task) finishWatched(c *Ctx, why *event.Poison) {
	end := t.rt.clock.Now()
	if p := t.rt.probe; p != nil {
		p.ran(c, t, end)
	}
	var x *TaskProfile
	if sink := t.watch.sink; sink != nil {
		x = c.profile(sink)
		t.fill(x, c.proc)
		x.Start, x.End = time.Duration(c.started), time.Duration(end)
		if why != nil {
			x.Outcome = Failed
		}
	}
	finish := t.finish
	t.free()
	if finish != 0 {
		c.cascade.trigger(finish, why)
	}
	if x != nil {
		c.profiled(x)
	}
	c.cascade.run(callBudget)
}

// fill puts into x what is known of t when it is ready.
func (t *task) fill(x *TaskProfile, p Processor) {
	x.Finish, x.Processor, x.Task = Event(t.finish), p, t.name()
	x.Create, x.Ready = time.Duration(t.watch.created), time.Duration(t.watch.ready)
}

// ran records that t has run since it started or went on. The arrow ends in its first slice. Tasks on goroutines
// overlap, and are spans.
func (p *probe) ran(c *Ctx, t *task, end uint64) {
	e := trace.Record{Start: c.since, End: end, A: uint64(t.finish), Name: p.nameOf(t), Kind: trace.Slice}
	if c.lane == nil {
		e.Kind = trace.Span
	} else if c.since == c.started && t.finish != 0 {
		e.Flow = uint64(t.finish)
		e.Kind |= trace.FlowIn
	}
	p.add(c.lane, e)
}

// pauses ends the slice of the task that waits; resumes begins the next one.
func (p *probe) pauses(c *Ctx) uint64 {
	if p == nil {
		return 0
	}
	now := c.rt.clock.Now()
	p.ran(c, c.task, now)
	return now
}

func (p *probe) resumes(c *Ctx, paused uint64, e event.ID) {
	if p == nil {
		return
	}
	c.since = c.rt.clock.Now()
	p.add(c.lane, trace.Record{
		Start: paused, End: c.since, A: uint64(c.task.finish), B: uint64(e), Name: p.wait, Kind: trace.Span,
	})
}

// passed has the profile of t, which does not run, delivered.
func (t *task) passed() {
	if t.watch.sink == nil {
		return
	}
	b := t.rt.batchFor(nil, t.watch.sink)
	x := b.next()
	t.fill(x, nameOf(t.executor))
	x.Outcome, x.Complete = Skipped, time.Duration(t.rt.clock.Now())
	t.rt.deliver(b)
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

// profile is the profile of the task that ends at c, to be filled before c runs anything else.
func (c *Ctx) profile(sink *Profiler) *TaskProfile {
	if p := c.executor; p != nil {
		p.batch = c.rt.batchFor(p.batch, sink)
		return p.batch.next()
	}
	c.batch = c.rt.batchFor(nil, sink)
	return c.batch.next()
}

// profiled notes that the task is complete.
func (c *Ctx) profiled(x *TaskProfile) {
	x.Complete = time.Duration(c.rt.clock.Now())
	if c.executor == nil {
		c.rt.deliver(c.batch)
		c.batch = nil
	}
}
