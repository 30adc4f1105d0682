package realmtest

import (
	"errors"
	"fmt"

	"github.com/golci/golci/realm"
)

// callAll calls the operations of this rank: in the order of the plan, or in another one.
func (j *job) callAll() {
	order := j.rng.Perm(len(j.plan.ops))
	if j.plan.Seed%2 == 0 {
		for i := range order {
			order[i] = i
		}
	}
	var all []int // those that all ranks call in one order
	for i := range j.plan.ops {
		if j.plan.ops[i].kind == everywhere {
			all = append(all, i)
		}
	}
	for _, i := range order {
		switch o := &j.plan.ops[i]; {
		case o.kind == everywhere:
			j.begin(all[0])
			all = all[1:]
		case o.kind == phase:
			j.arrive(o)
			j.begin(i)
		case o.at == j.rt.Rank():
			j.begin(i)
		}
	}
}

// begin calls operation i, and has its event trigger when it is over.
func (j *job) begin(i int) {
	o := &j.plan.ops[i]
	pre := j.precondition(o)
	var e realm.Event
	switch {
	case o.waits:
		e = realm.SpawnLocal(j.rt, j.rt.CPU(0), func(c *realm.Ctx) error { return c.Wait(j.call(c, i, pre)) })
	case o.inTask:
		realm.SpawnLocal(j.rt, j.rt.CPU(1), func(c *realm.Ctx) error { return j.bound(i, j.call(c, i, pre)) })
		return
	default:
		e = j.call(j.rt, i, pre)
	}
	if o.at == j.rt.Rank() {
		j.called[i] = e
		j.report(j.bound(i, e))
	}
}

// bound has the event of operation i trigger after e.
func (j *job) bound(i int, e realm.Event) error {
	o, u := &j.plan.ops[i], j.rt.UserEvent(j.events[i])
	switch o.kind {
	case cancel:
		return u.Cancel(fmt.Errorf("%s", o.causes[0]))
	case user:
		if o.ignore {
			return u.Trigger(e, realm.IgnoreFaults())
		}
	}
	return u.Trigger(e)
}

// report has an error that is none of the plan's seen by all: the job fails.
func (j *job) report(err error) {
	if err != nil && !errors.Is(err, realm.ErrPeer) && !j.plan.kill {
		panic(fmt.Sprintf("rank %d: %v", j.rt.Rank(), err))
	}
}

// precondition is the events that o waits for, as its caller has them, or as all have.
func (j *job) precondition(o *op) (pre []realm.Event) {
	for _, list := range [][]int{o.deps, o.order} {
		for _, d := range list {
			pre = append(pre, j.eventOf(d))
		}
	}
	return pre
}

func (j *job) eventOf(i int) realm.Event {
	switch j.plan.ops[i].kind {
	case cancel, user: // what the call has returned is not its event
		return j.events[i]
	}
	if e := j.called[i]; e != realm.NoEvent && j.rng.IntN(2) == 0 {
		return e
	}
	return j.events[i]
}

func options(o *op, pre ...realm.Event) []realm.Option {
	opts := []realm.Option{realm.After(pre...)}
	if o.ignore {
		opts = append(opts, realm.IgnoreFaults())
	}
	return opts
}

// merged is pre as one event.
func (j *job) merged(o *op, pre []realm.Event) realm.Event {
	if o.ignore {
		return j.rt.MergeIgnoringFaults(pre...)
	}
	return j.rt.Merge(pre...)
}

// call calls operation i at a site, after pre.
func (j *job) call(at realm.Site, i int, pre []realm.Event) realm.Event {
	o := &j.plan.ops[i]
	opts := options(o, pre...)
	switch o.kind {
	case addTask:
		return realm.Spawn(at, j.processor(o), addition, addArgs{j.run, int64(o.dst), int64(o.src), o.x}, opts...)
	case longTask:
		values := make([]int64, len(o.points))
		for k := range values {
			values[k] = argument(o.x, k)
		}
		return realm.Spawn(at, j.processor(o), long, longArgs{j.run, int64(o.dst), o.points, values}, opts...)
	case failTask:
		return realm.Spawn(at, realm.ProcessorOf(o.owner), fail, int64(i), opts...)
	case copyData, gatherData, scatterData, fillData:
		return j.move(at, o, opts)
	case foldData, listData:
		return realm.SpawnLocal(at, j.rt.CPU(i%CPUs), func(c *realm.Ctx) error { return j.reduce(c, o) }, opts...)
	case hold, share:
		return j.lock(at, o, pre)
	case phase:
		return j.phaseOf(o).Event()
	case everywhere:
		args := lockArgs{j.run, int64(o.lock), arrival(o.x, j.rt.Rank())}
		return realm.CollectiveSpawn(at, realm.CPU, everywhereTask, args, opts...)
	case merge, user:
		return j.merged(o, pre)
	}
	return realm.NoEvent // of cancel
}

// processor is where a task of o finds its array.
func (j *job) processor(o *op) realm.Processor {
	r := j.plan.arrays[o.dst].rank
	if r != j.rt.Rank() {
		return realm.ProcessorOf(r)
	}
	switch o.proc {
	case realm.Utility:
		return j.rt.Utility()
	case realm.IO:
		return j.rt.IO()
	}
	return j.rt.CPU(int(o.x) % CPUs)
}

func (j *job) move(at realm.Site, o *op, opts []realm.Option) realm.Event {
	var part realm.Part
	dst := j.instances[o.dst]
	if o.points != nil {
		s := realm.Indices(o.points...)
		if n := len(o.points); int64(n) == o.points[n-1]-o.points[0]+1 {
			s = realm.Range(o.points[0], o.points[n-1]+1)
		}
		part.Points = &s
	}
	field := j.plan.arrays[o.dst].field
	if o.kind == fillData {
		return realm.Fill(at, dst, field, o.x, part.Points, opts...)
	}
	part.Fields = []realm.Pair{{Dst: field, Src: j.plan.arrays[o.src].field}}
	src := j.instances[o.src]
	switch o.kind {
	case gatherData:
		return realm.Gather(at, dst, src, o.index, part, opts...)
	case scatterData:
		return realm.Scatter(at, dst, src, o.index, part, opts...)
	}
	return realm.Copy(at, dst, src, part, opts...)
}

// reduce reduces into an instance of this rank, and that into the array.
func (j *job) reduce(c *realm.Ctx, o *op) error {
	values := make([]int64, len(o.index))
	for k := range values {
		values[k] = o.x + int64(k)
	}
	a := &j.plan.arrays[o.dst]
	var from realm.ReductionInstance
	var err error
	if o.kind == foldData {
		var f *realm.FoldInstance[int64, int64]
		if f, err = realm.NewFold(add, a.space(), realm.AtomicReductions); err == nil {
			err, from = f.ReduceAll(o.index, values), f
		}
	} else {
		var l *realm.ListInstance[int64, int64]
		if l, err = realm.NewList(add, a.space()); err == nil {
			err, from = l.ReduceAll(o.index, values), l
		}
	}
	if err != nil {
		return err
	}
	return c.Wait(realm.Reduce(c, j.instances[o.dst], a.field, from))
}

// lock acquires a reservation for a task, and releases it after that.
func (j *job) lock(at realm.Site, o *op, pre []realm.Event) realm.Event {
	r, mode, task := j.locks[o.lock], realm.Exclusive, holdTask
	if o.kind == share {
		mode, task = 1+realm.Mode(o.x%2), shareTask
	}
	var opts []realm.Option
	if o.ignore {
		opts = append(opts, realm.IgnoreFaults())
	}
	grant := r.Acquire(mode, j.merged(o, pre), opts...)
	e := realm.Spawn(at, j.rt.CPU(int(o.x)%CPUs), task, lockArgs{j.run, int64(o.lock), o.x}, realm.After(grant))
	if err := r.Release(e); err != nil {
		return j.rt.Merge(e, realm.SpawnLocal(at, j.rt.CPU(0), func(*realm.Ctx) error { return err }))
	}
	return e
}

// phaseOf is the phase of o. The first one of each barrier is for all ranks to join it.
func (j *job) phaseOf(o *op) realm.Barrier[int64] {
	b := j.barriers[o.barrier].Next()
	for range o.number {
		b = b.Next()
	}
	return b
}

// arrive arrives at a phase, after this rank's part of what that waits for.
func (j *job) arrive(o *op) {
	me := j.rt.Rank()
	var pre []realm.Event
	for k, d := range o.deps {
		if k%j.plan.Ranks == me {
			pre = append(pre, j.eventOf(d))
		}
	}
	var opts []realm.Option
	if o.ignore {
		opts = append(opts, realm.IgnoreFaults())
	}
	j.report(j.phaseOf(o).Arrive(1, arrival(o.x, me), j.merged(o, pre), opts...))
}
