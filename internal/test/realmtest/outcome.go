package realmtest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/golci/golci/realm"
)

// outcomes waits for all operations, and compares what becomes of them with the plan.
func (j *job) outcomes(ctx context.Context) ([]byte, error) {
	errs, err := j.await(ctx)
	if err != nil {
		return nil, err
	}
	outcomes := make([]byte, len(errs))
	var wrong []error
	for i, err := range errs {
		if outcomes[i] = done; err != nil {
			outcomes[i] = poisoned
		}
		if why := j.plan.ops[i].differs(err); why != nil {
			wrong = append(wrong, fmt.Errorf("rank %d sees operation %d: %w", j.rt.Rank(), i, why))
		}
	}
	return outcomes, errors.Join(wrong...)
}

// differs tells how the end of o is not as planned.
func (o *op) differs(err error) error {
	var p *realm.PoisonError
	switch {
	case err == nil && o.causes == nil:
		return nil
	case err != nil && o.causes == nil:
		return err
	case err == nil:
		return fmt.Errorf("kind %d is not poisoned by %q", o.kind, o.causes)
	case !errors.As(err, &p):
		return err
	case p.Rank < 0: // forgotten, since it was long ago
		return nil
	}
	for _, c := range o.causes {
		if strings.Contains(p.Cause, c) {
			return nil
		}
	}
	return fmt.Errorf("kind %d is poisoned by %w, not by one of %q", o.kind, err, o.causes)
}

// await waits for all operations: with a completion queue, or one after the other.
func (j *job) await(ctx context.Context) ([]error, error) {
	if (j.plan.Seed+uint64(j.rt.Rank()))%2 == 0 {
		errs := make([]error, len(j.events))
		for i, e := range j.events {
			if errs[i] = j.rt.Wait(ctx, e); ctx.Err() != nil {
				return nil, fmt.Errorf("rank %d waits for operation %d: %w", j.rt.Rank(), i, context.Cause(ctx))
			}
		}
		return errs, nil
	}
	q, err := j.watch()
	if err != nil {
		return nil, err
	}
	return j.drain(ctx, q)
}

// watch has a completion queue told of all operations.
func (j *job) watch() (*realm.CompletionQueue, error) {
	q := j.rt.NewCompletionQueue()
	for _, e := range j.events {
		if err := q.Add(e); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// drain waits until q has been told of the end of each operation.
func (j *job) drain(ctx context.Context, q *realm.CompletionQueue) ([]error, error) {
	errs, number := make([]error, len(j.events)), make(map[realm.Event]int)
	for i, e := range j.events {
		number[e] = i
	}
	var some [16]realm.Completion
	for left := len(j.events); left > 0; {
		if err := j.rt.Wait(ctx, q.NonEmpty()); err != nil {
			return nil, fmt.Errorf("rank %d has a queue that waits for %d operations: %w", j.rt.Rank(), left, err)
		}
		n := q.Pop(some[:])
		for _, c := range some[:n] {
			errs[number[c.Event]] = c.Err
		}
		left -= n
	}
	return errs, nil
}

// collect is the text of what the ranks have, once all operations are over.
func (j *job) collect(ctx context.Context, outcomes []byte) (string, error) {
	s := newState(j.plan)
	for i := range j.plan.arrays {
		if err := j.fetch(ctx, i, s.values[i]); err != nil {
			return "", fmt.Errorf("array %d: %w", i, err)
		}
	}
	for i, l := range j.locks {
		if err := j.rt.Wait(ctx, l.Acquire(realm.Exclusive, realm.NoEvent)); err != nil {
			return "", fmt.Errorf("reservation %d: %w", i, err)
		}
		s.locks[i] = *l.Payload()
		if err := l.Release(realm.NoEvent); err != nil {
			return "", fmt.Errorf("reservation %d: %w", i, err)
		}
	}
	for i := range j.plan.ops {
		o := &j.plan.ops[i]
		if o.kind != phase || o.causes != nil {
			continue
		}
		b := j.phaseOf(o)
		if err := j.rt.Wait(ctx, b.Event()); err != nil {
			return "", err
		}
		v, err := b.Result()
		if err != nil {
			return "", err
		}
		s.enter(o, v)
	}
	return s.text(outcomes), nil
}

// fetch copies array i to an instance of this rank, and that to values.
func (j *job) fetch(ctx context.Context, i int, values []int64) error {
	a := &j.plan.arrays[i]
	in, err := realm.NewArray[int64](j.rt, j.rt.Memory(realm.System), realm.Range(a.lo, a.hi))
	if err != nil {
		return err
	}
	part := realm.Part{Fields: []realm.Pair{{Dst: 0, Src: a.field}}}
	if err := j.rt.Wait(ctx, realm.Copy(j.rt, in, j.instances[i], part)); err != nil {
		return err
	}
	v, err := realm.ViewOf[int64](in, "")
	if err != nil {
		return err
	}
	for _, at := range a.points() {
		values[at-a.lo] = *v.At(at)
	}
	return j.rt.Wait(ctx, realm.Destroy(j.rt, in))
}
