package realmtest

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/golci/golci/realm"
)

// job is the execution of a plan, as one rank sees it. The rank's goroutine sets all fields before the barrier start
// has triggered; tasks of the rank only read them.
type job struct {
	rt   *realm.Runtime
	plan *Plan
	run  int64
	rng  *rand.Rand // of the rank's goroutine

	instances []realm.Instance
	views     []realm.View[int64] // of the rank's own arrays; zero for others
	locks     []realm.Reservation[payload]
	barriers  []realm.Barrier[int64] // the first phase, which all ranks have joined
	events    []realm.Event          // of each operation, by a user event
	called    []realm.Event          // what the calls on this rank have returned; of the rank's goroutine
	start     realm.Barrier[struct{}]
}

// Execute executes a plan as the rank of rt, together with all others. run tells jobs of one runtime apart. It blocks
// until this rank has seen the outcome of each operation, and returns an error for those that are not as planned.
// Rank 0 returns the text of what all have ended with. The runtime has CPUs processors and registered memory.
func Execute(ctx context.Context, rt *realm.Runtime, p *Plan, run int64) (string, error) {
	j, err := prepare(ctx, rt, p, run)
	if err == nil {
		err = j.meet(ctx)
	}
	if err != nil {
		return "", err
	}
	j.callAll()
	outcomes, err := j.outcomes(ctx)
	if err != nil {
		return "", err
	}
	if err := j.meet(ctx); err != nil {
		return "", err
	}
	var text string
	if rt.Rank() == 0 {
		if text, err = j.collect(ctx, outcomes); err != nil {
			return "", err
		}
	}
	if err := j.meet(ctx); err != nil {
		return "", err
	}
	desks.Delete(deskKey{rt, run})
	return text, nil
}

// prepare makes what this rank has to make, and exchanges names with the others.
func prepare(ctx context.Context, rt *realm.Runtime, p *Plan, run int64) (*job, error) {
	n := len(p.arrays)
	j := &job{
		rt: rt, plan: p, run: run, rng: rand.New(rand.NewPCG(p.Seed, uint64(rt.Rank())+100)),
		instances: make([]realm.Instance, n), views: make([]realm.View[int64], n),
		locks: make([]realm.Reservation[payload], len(p.locks)), barriers: make([]realm.Barrier[int64], len(p.barriers)),
		events: make([]realm.Event, len(p.ops)), called: make([]realm.Event, len(p.ops)),
	}
	mine, err := j.make()
	if err != nil {
		return nil, err
	}
	d := deskOf(rt, run)
	for r := range p.Ranks {
		realm.Spawn(rt, realm.ProcessorOf(r), introduce, mine)
	}
	for range p.Ranks {
		select {
		case theirs := <-d.names:
			j.bind(theirs)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	for i := range j.barriers {
		if err := j.barriers[i].Arrive(1, 0, realm.NoEvent); err != nil {
			return nil, err
		}
	}
	d.job = j
	return j, d.ready.Trigger(realm.NoEvent)
}

// make makes the arrays, reservations, barriers and events of this rank.
func (j *job) make() (names, error) {
	me := j.rt.Rank()
	mine := names{Run: j.run, From: me}
	for i := range j.plan.arrays {
		if a := &j.plan.arrays[i]; a.rank == me {
			in, err := j.makeArray(i, a)
			if err != nil {
				return mine, err
			}
			mine.Instances = append(mine.Instances, in.ID())
		}
	}
	for _, home := range j.plan.locks {
		if home == me {
			l, err := realm.NewReservation[payload](j.rt)
			if err != nil {
				return mine, err
			}
			mine.Locks = append(mine.Locks, l.ID())
		}
	}
	for _, owner := range j.plan.barriers {
		if owner == me {
			b, err := realm.NewBarrier(j.rt, int64(j.plan.Ranks), sum)
			if err != nil {
				return mine, err
			}
			mine.Barriers = append(mine.Barriers, b.ID())
		}
	}
	for i := range j.plan.ops {
		if j.plan.ops[i].owner == me {
			mine.Events = append(mine.Events, j.rt.NewUserEvent().Event())
		}
	}
	if me != 0 {
		return mine, nil
	}
	b, err := realm.NewBarrier(j.rt, int64(j.plan.Ranks), realm.Reduction[struct{}]{})
	mine.Start = b.ID()
	return mine, err
}

func (j *job) makeArray(i int, a *array) (realm.Instance, error) {
	kind := realm.System
	if a.registered {
		kind = realm.Registered
	}
	fields := []realm.Field{realm.FieldOf[int32]("other"), realm.FieldOf[int32]("other2")}
	fields[a.field] = realm.FieldOf[int64]("value")
	in, err := realm.NewInstance(j.rt, j.rt.Memory(kind), a.space(), a.order, fields...)
	if err != nil {
		return in, err
	}
	if j.views[i], err = realm.ViewOf[int64](in, "value"); err != nil {
		return in, err
	}
	for _, at := range a.points() {
		*j.views[i].At(at) = initial(i, at)
	}
	return in, nil
}

func (a *array) space() realm.Space {
	if a.skip == 0 {
		return realm.Range(a.lo, a.hi)
	}
	return realm.Indices(a.points()...)
}

// bind takes the handles that a rank has made.
func (j *job) bind(n names) {
	for i := range j.plan.arrays {
		if j.plan.arrays[i].rank == n.From {
			j.instances[i], n.Instances = n.Instances[0].On(j.rt), n.Instances[1:]
		}
	}
	for i, home := range j.plan.locks {
		if home == n.From {
			j.locks[i], n.Locks = n.Locks[0].On(j.rt), n.Locks[1:]
		}
	}
	for i, owner := range j.plan.barriers {
		if owner == n.From {
			j.barriers[i], n.Barriers = n.Barriers[0].On(j.rt), n.Barriers[1:]
		}
	}
	for i := range j.plan.ops {
		if j.plan.ops[i].owner == n.From {
			j.events[i], n.Events = n.Events[0], n.Events[1:]
		}
	}
	if n.From == 0 {
		j.start = n.Start.On(j.rt)
	}
}

// meet waits for all ranks.
func (j *job) meet(ctx context.Context) error {
	if err := j.start.Arrive(1, struct{}{}, realm.NoEvent); err != nil {
		return err
	}
	if err := j.rt.Wait(ctx, j.start.Event()); err != nil {
		return fmt.Errorf("rank %d: all ranks meet: %w", j.rt.Rank(), err)
	}
	j.start = j.start.Next()
	return nil
}
