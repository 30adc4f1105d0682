package realmtest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/golci/golci/realm"
)

// ping is a task that only runs.
var ping = realm.Register("realmtest.ping", func(*realm.Ctx, struct{}) error { return nil })

// Survive executes a plan for which Config.Kill was set as the rank of rt, while the rank victim dies. It blocks until
// this rank has seen the end of each operation. It returns an error for an operation of this kind:
//
//   - It has a poison that neither names the victim nor is one of the plan's. One whose cause has been forgotten it may
//     have from an operation that it waits for.
//   - It has been done although it waits for one that has not.
//   - It has left wrong data in an array of this rank to which only operations that were done have written.
//
// It also returns one if the ranks that are left cannot go on. On the victim it calls die once all ranks know each
// other, and must not return before the process has ended.
func Survive(ctx context.Context, rt *realm.Runtime, p *Plan, victim int, die func()) error {
	j, err := prepare(ctx, rt, p, 0)
	if err != nil {
		return err
	}
	// A call that waits before an event triggers is told the cause of its poison. A later one may find it forgotten.
	told, err := j.watch()
	if err != nil {
		return err
	}
	if rt.Rank() == victim {
		if err := j.joined(ctx); err != nil {
			return err
		}
		die()
	} else if err := j.start.Arrive(1, struct{}{}, realm.NoEvent); err != nil {
		return err
	}
	j.callAll()
	errs, err := j.drain(ctx, told)
	if err != nil {
		return err
	}
	if rt.Rank() == victim {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return errors.Join(j.consistent(errs, victim), j.goesOn(ctx, victim))
}

// joined waits until all ranks have joined all barriers.
func (j *job) joined(ctx context.Context) error {
	if err := j.meet(ctx); err != nil {
		return err
	}
	for _, b := range j.barriers {
		if err := j.rt.Wait(ctx, b.Event()); err != nil {
			return err
		}
	}
	return nil
}

// consistent compares the ends of operations with each other, and arrays with the plan.
func (j *job) consistent(errs []error, victim int) error {
	var wrong []error
	whole := make([]bool, len(j.plan.arrays)) // only operations that were done have written to it
	for i := range whole {
		whole[i] = true
	}
	for i := range j.plan.ops {
		o := &j.plan.ops[i]
		if errs[i] != nil && o.causes == nil && o.dst >= 0 {
			whole[o.dst] = false
		}
		if why := j.explained(errs, i, victim); why != nil {
			wrong = append(wrong, fmt.Errorf("rank %d sees operation %d of kind %d at rank %d: %w", j.rt.Rank(), i,
				o.kind, o.at, why))
		}
	}
	for i := range j.plan.arrays {
		a := &j.plan.arrays[i]
		if !whole[i] || a.rank != j.rt.Rank() {
			continue
		}
		for _, at := range a.points() {
			if got, want := *j.views[i].At(at), *j.plan.ends.at(j.plan, i, at); got != want {
				wrong = append(wrong, fmt.Errorf("array %d has %d at %d, want %d", i, got, at, want))
				break
			}
		}
	}
	return errors.Join(wrong...)
}

// explained tells what is wrong with the end of operation i.
func (j *job) explained(errs []error, i, victim int) error {
	o, err := &j.plan.ops[i], errs[i]
	if err == nil {
		if o.causes != nil {
			return o.differs(nil)
		}
		for _, list := range [][]int{o.deps, o.order} {
			for _, d := range list { // the owner of an event may have died after it has told some that it has triggered
				if errs[d] != nil && j.plan.ops[d].owner != victim {
					return fmt.Errorf("done, although operation %d, of kind %d, was not: %w", d, j.plan.ops[d].kind, errs[d])
				}
			}
		}
		return nil
	}
	var p *realm.PoisonError
	died := errors.As(err, &p) &&
		(p.Rank == victim || strings.Contains(p.Cause, fmt.Sprintf("rank %d", victim)))
	switch {
	case died, o.causes != nil && o.differs(err) == nil:
		return nil
	case p != nil && p.Rank < 0 && j.dependsOnPoisoned(errs, o): // it may have come to wait for that too late
		return nil
	}
	return fmt.Errorf("poison that is not explained: %w", err)
}

// dependsOnPoisoned tells whether o waits for an operation that was not done.
func (j *job) dependsOnPoisoned(errs []error, o *op) bool {
	for _, list := range [][]int{o.deps, o.order} {
		for _, d := range list {
			if errs[d] != nil {
				return true
			}
		}
	}
	return false
}

// goesOn makes the ranks that are left run tasks for each other.
func (j *job) goesOn(ctx context.Context, victim int) error {
	e := realm.NoEvent
	for range 3 {
		for r := range j.plan.Ranks {
			if r != victim {
				e = realm.Spawn(j.rt, realm.ProcessorOf(r), ping, struct{}{}, realm.After(e))
			}
		}
	}
	return j.rt.Wait(ctx, e)
}
