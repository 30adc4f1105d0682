package realm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

// leftover has handles of a runtime that has ended.
type leftover struct {
	rt     *Runtime
	e      UserEvent
	far    UserEvent // of the other rank
	b      Barrier[int64]
	r      Reservation[int]
	held   Reservation[int] // which this rank holds
	remote Reservation[int] // of the other rank
	fast   *FastReservation
	in     Instance
	l      *ListInstance[int64, int64]
	q      *CompletionQueue
	group  Processor
	finish Event // of a task that waits
}

// TestAfterEnd: calls after the end of the runtime neither panic nor hang, and what they begin is poisoned.
func TestAfterEnd(t *testing.T) {
	var x leftover
	var given sync.WaitGroup
	given.Add(1)
	var far Event
	var lock ReservationID[int]
	err := Run(2, func(rt *Runtime) (err error) {
		if rt.Rank() == 1 {
			far = rt.NewUserEvent().Event()
			r, err := NewReservation[int](rt)
			lock = r.ID()
			given.Done()
			return err
		}
		given.Wait()
		var errs [6]error
		x = leftover{rt: rt, e: rt.NewUserEvent(), far: rt.UserEvent(far), fast: rt.NewFastReservation()}
		x.b, errs[0] = NewBarrier(rt, 2, addInts)
		x.r, errs[1] = NewReservation[int](rt)
		x.held, errs[2] = NewReservation[int](rt)
		x.held.TryAcquire(Exclusive)
		x.remote = lock.On(rt)
		x.in, errs[3] = NewArray[int64](rt, rt.Memory(System), Range(0, 9))
		x.l, errs[4] = NewList(sumInt64, Range(0, 9))
		x.q = rt.NewCompletionQueue()
		x.group, errs[5] = rt.NewGroup(rt.CPU(0))
		x.finish = Spawn(rt, rt.CPU(0), nothing, args40{}, After(x.e.Event()))
		return errors.Join(errs[:]...)
	})
	if !errors.Is(err, ErrPending) {
		t.Error(err)
	}
	x.check(t)
}

// check calls everything.
func (x *leftover) check(t *testing.T) {
	rt, ctx := x.rt, context.Background()
	for name, call := range map[string]func() Event{
		"spawn":        func() Event { return Spawn(rt, rt.CPU(0), nothing, args40{}) },
		"remote spawn": func() Event { return Spawn(rt, ProcessorOf(1), nothing, args40{}) },
		"local spawn":  func() Event { return SpawnLocal(rt, x.group, func(*Ctx) error { return nil }) },
		"collective":   func() Event { return CollectiveSpawn(rt, CPU, nothing, args40{}) },
		"copy":         func() Event { return Copy(rt, x.in, x.in, Part{}) },
		"fill":         func() Event { return Fill(rt, x.in, 0, int64(1), nil) },
		"reduce":       func() Event { return Reduce(rt, x.in, 0, x.l) },
		"destroy":      func() Event { return Destroy(rt, x.in) },
		"gather":       func() Event { return Gather(rt, x.in, x.in, nil, Part{}) },
		"scatter":      func() Event { return Scatter(rt, x.in, x.in, nil, Part{}) },
		"acquire":      func() Event { return x.held.Acquire(Exclusive, NoEvent) },
		"far acquire":  func() Event { return x.remote.Acquire(Exclusive, NoEvent) },
	} {
		if done, err := rt.HasTriggered(call()); !done || !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v, %v", name, done, err)
		}
	}
	_, made := NewBarrier(rt, 1, addInts)
	_, lists := rt.Processors(ctx, 1, CPU)
	_, _, circles := rt.Deadlocks(ctx)
	_, altered := x.b.Alter(1)
	_, result := x.b.Result()
	for name, err := range map[string]error{
		"wait": rt.Wait(ctx, x.e.Event()), "trigger": x.e.Trigger(NoEvent), "cancel": x.e.Cancel(nil),
		"far trigger": x.far.Trigger(NoEvent), "far wait": rt.Wait(ctx, x.far.Event()), "barrier": made, "processors": lists,
		"deadlocks": circles, "arrive": x.b.Arrive(1, 1, NoEvent), "alter": altered, "result": result,
		"migrate": x.b.Migrate(1), "shutdown": rt.Shutdown(NoEvent), "wait for shutdown": rt.WaitForShutdown(ctx),
		"destroy": x.r.Destroy(NoEvent), "deferred release": x.held.Release(x.e.Event()),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_ = x.held.Release(NoEvent)
	_ = x.remote.Release(NoEvent)
	_ = x.r.TryAcquire(Exclusive)
	_ = x.r.Payload()
	_ = x.fast.Lock(1)
	_ = x.fast.Lock(Exclusive)
	_ = x.fast.Unlock()
	_ = x.q.Add(x.e.Event())
	_, _ = x.q.NonEmpty(), x.q.Pop(nil)
	_, _ = rt.Merge(x.e.Event(), x.far.Event()), rt.Subscribe(x.far.Event())
	_ = rt.CancelOperation(x.finish, nil)
	_ = rt.SetOperationPriority(x.finish, 1)
	_, _ = rt.NewGroup(rt.CPU(0))
	_, _ = ViewOf[int64](x.in, "")
	_, _ = rt.Host(ctx, 0)
}

// TestManyJobs: jobs in one process know nothing of each other.
func TestManyJobs(t *testing.T) {
	var jobs sync.WaitGroup
	for i := range 6 {
		jobs.Go(func() {
			err := Run(2, func(rt *Runtime) error {
				if rt.Rank() != 0 {
					return nil
				}
				u := rt.NewUserEvent()
				e := Spawn(rt, ProcessorOf(1), nothing, args40{}, After(u.Event()))
				if i%2 == 1 {
					must(t, u.Cancel(fmt.Errorf("job %d", i)))
				} else {
					must(t, u.Trigger(NoEvent))
				}
				if err := rt.Wait(context.Background(), e); (err != nil) != (i%2 == 1) {
					return fmt.Errorf("job %d: %w", i, err)
				}
				return nil
			})
			must(t, err)
		})
	}
	jobs.Wait()
}
