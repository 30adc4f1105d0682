package realm

import (
	"context"
	"errors"
	"testing"

	"github.com/golci/golci/realm/internal/fault"
)

// TestZeroHandles: handles that nobody made, and arguments that cannot be, are errors, or events that say so; none of
// them panics.
func TestZeroHandles(t *testing.T) {
	alone(t, 1, func(rt *Runtime) {
		must := func(in Instance, err error) Instance {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
			return in
		}
		in := must(NewArray[int64](rt, rt.Memory(System), Range(0, 9)))
		var (
			noEnd    context.Context
			profiler *Profiler
			queue    CompletionQueue
			lock     FastReservation
			view     View[int64]
			fold     *FoldInstance[int64, int64]
			list     *ListInstance[int64, int64]
		)
		lock.Lock(Exclusive) // which a fast path may grant
		wrong := map[string]func() error{
			"instance of no profiler": func() error { _, err := profiler.NewInstance(0, Range(0, 1), SOA); return err },
			"instance of a zero profiler": func() error {
				_, err := new(Profiler).NewInstance(rt.Memory(System), Range(0, 1), SOA, FieldOf[int]("a"))
				return err
			},
			"queue":           func() error { return queue.Add(NoEvent) },
			"queue, NonEmpty": func() error { return rt.Wait(noEnd, queue.NonEmpty()) },
			"lock":            func() error { return rt.Wait(noEnd, lock.Lock(Exclusive)) },
			"no fold":         func() error { return rt.Wait(noEnd, Reduce(rt, in, 0, fold)) },
			"no list":         func() error { return rt.Wait(noEnd, Reduce(rt, in, 0, list)) },
			"a zero fold":     func() error { return rt.Wait(noEnd, Reduce(rt, in, 0, new(FoldInstance[int64, int64]))) },
			"a zero list":     func() error { return rt.Wait(noEnd, Reduce(rt, in, 0, new(ListInstance[int64, int64]))) },
			"fold of no op":   func() error { _, err := NewFold[int64, int64](nil, Range(0, 9), 0); return err },
			"list of no op":   func() error { _, err := NewList[int64, int64](nil, Range(0, 9)); return err },
			"target of no op": func() error { _, err := TargetOf[int64, int64](in, "", nil, Range(0, 9), 0); return err },
			"each without arguments": func() error {
				return rt.Wait(noEnd, SpawnEach(rt, []Processor{rt.CPU(0)}, relay, nil))
			},
			"memory of rank 65,536": func() error {
				_, e := CreateInstance(rt, rt.MemoryOf(1<<16, System), Range(0, 1), SOA, []Field{FieldOf[int]("a")})
				return rt.Wait(noEnd, e)
			},
			"memory of rank -1": func() error {
				_, err := NewInstance(rt, rt.MemoryOf(-1, System), Range(0, 1), SOA, FieldOf[int]("a"))
				return err
			},
			"no dimensions": func() error { _, err := NewArray[int](rt, rt.Memory(System), Grid()); return err },
			"other dimensions": func() error {
				_, err := NewArray[int](rt, rt.Memory(System), Rect([]int64{0, 0}, []int64{1}))
				return err
			},
			"no points given": func() error { return rt.Wait(noEnd, GatherBy(rt, in, in, IndexField(Instance{}, 0), Part{})) },
		}
		for what, f := range wrong {
			err := fault.Safely(what, f)
			if err == nil || !errors.Is(err, ErrArgument) && !errors.Is(err, ErrPoisoned) {
				t.Errorf("%s: %v", what, err)
			}
		}
		harmless := map[string]func(){
			"no deadlock": func() { _ = Deadlock(nil).String() },
			"view":        func() { _ = view.Slice() },
			"queue, Pop":  func() { _ = queue.Pop(make([]Completion, 1)) },
			"try":         func() { _ = lock.TryLock(1) },
			"unlock":      func() { _, _ = lock.Unlock(), lock.Unlock() },
			"use":         func() { _, _ = rt.MemoryUse(^Memory(0)) },
		}
		for what, f := range harmless {
			if err := fault.Safely(what, func() error { f(); return nil }); err != nil {
				t.Error(err)
			}
		}
	})
}
