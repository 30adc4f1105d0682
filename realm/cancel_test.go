package realm

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// TestCancelOperations: whatever operation waits for its precondition is canceled, on whatever rank that is, and then
// has no effect.
func TestCancelOperations(t *testing.T) {
	overWays(t, func(t *testing.T, rt *Runtime) {
		last := rt.Size() - 1
		kit := func(r int, seed int64) Instance {
			return kitArgs{Kind: kindFor(rt, r), Hi: 100, Seed: seed}.at(t, rt, r)
		}
		here, there := kit(0, 1), kit(last, 2)
		lock, err := NewReservation[state](rt)
		must(t, err)
		target, never := rt.NewUserEvent(), rt.NewUserEvent()
		for name, begin := range map[string]func(gate Event) Event{
			"copy from here":  func(g Event) Event { return Copy(rt, there, here, Part{}, After(g)) },
			"copy from there": func(g Event) Event { return Copy(rt, here, there, Part{}, After(g)) },
			"fill":            func(g Event) Event { return Fill(rt, there, 0, int64(7), nil, After(g)) },
			"reduction":       func(g Event) Event { return Reduce(rt, there, 0, foldOf(t, 50), After(g)) },
			"destruction":     func(g Event) Event { return Destroy(rt, there, After(g)) },
			"acquire":         func(g Event) Event { return lock.Acquire(Exclusive, g) },
			"merge":           func(g Event) Event { return rt.Merge(g, never.Event()) },
			"trigger":         func(g Event) Event { must(t, target.Trigger(g)); return target.Event() },
			"long list": func(g Event) Event {
				index := make([]int64, 100)
				return Gather(rt, here, there, index, Part{}, After(g))
			},
		} {
			gate := rt.NewUserEvent()
			e := begin(gate.Event())
			if err := rt.SetOperationPriority(e, 1); e.Rank() == 0 && err == nil && last == 0 {
				t.Errorf("%s has a priority", name)
			}
			settle(t, rt)
			must(t, rt.CancelOperation(e, errTest))
			for try := 0; try < 100 && !triggered(t, rt, e); try++ { // the one before may have overtaken the operation
				settle(t, rt)
				if err := rt.CancelOperation(e, errTest); err != nil && !errors.Is(err, ErrTriggered) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if err := wait(t, rt, e); !errors.Is(err, ErrPoisoned) || last == 0 && !errors.Is(err, errTest) {
				t.Errorf("%s: %v", name, err)
			}
			if err := rt.CancelOperation(e, nil); !errors.Is(err, ErrTriggered) {
				t.Errorf("%s is canceled again: %v", name, err)
			}
			must(t, gate.Trigger(NoEvent))
			must(t, lock.Release(lock.Acquire(Exclusive, NoEvent))) // the canceled one does not hold it
		}
		must(t, never.Trigger(NoEvent)) // the merge still waits for it
		settle(t, rt)
		checkValues(t, "here", values(t, rt, here, NoEvent), func(i int64) int64 { return valueAt(1, i) })
		checkValues(t, "there", values(t, rt, there, NoEvent), func(i int64) int64 { return valueAt(2, i) })
	})
}

// triggered tells whether e has triggered, or is poisoned.
func triggered(t *testing.T, rt *Runtime, e Event) bool {
	t.Helper()
	done, err := rt.HasTriggered(e)
	return done || err != nil
}

// settle returns when what this rank has sent to the last one is there.
func settle(t *testing.T, rt *Runtime) {
	t.Helper()
	for range 3 { // an offer, its answer, the bytes
		must(t, wait(t, rt, Spawn(rt, ProcessorOf(rt.Size()-1), count, struct{}{})))
	}
}

// TestCancelBegun: what has begun is not canceled, nor what nobody does; the caller is told.
func TestCancelBegun(t *testing.T) {
	alone(t, 2, func(rt *Runtime) {
		lock, err := NewReservation[state](rt)
		must(t, err)
		must(t, wait(t, rt, lock.Acquire(Exclusive, NoEvent)))
		queued, user := lock.Acquire(Exclusive, NoEvent), rt.NewUserEvent()
		for name, e := range map[string]Event{"a queued acquire": queued, "the program's event": user.Event()} {
			if err := rt.CancelOperation(e, nil); !errors.Is(err, ErrBegun) {
				t.Errorf("%s: %v", name, err)
			}
		}
		must(t, lock.Release(NoEvent))
		must(t, wait(t, rt, queued))
		must(t, user.Trigger(NoEvent))
		if err := rt.CancelOperation(Event(event.MakeEvent(1, 0, 1)), nil); !errors.Is(err, ErrArgument) {
			t.Errorf("an event of another rank: %v", err)
		}
	})
}

// TestCancelEnded: a task with several preconditions that a poison has ended is not ended again, though one of its
// preconditions is still to come. Its memory has been free since.
func TestCancelEnded(t *testing.T) {
	alone(t, 1, func(rt *Runtime) {
		a, b := rt.NewUserEvent(), rt.NewUserEvent()
		e := SpawnLocal(rt, rt.CPU(0), func(*Ctx) error { return nil }, After(a.Event(), b.Event()))
		must(t, a.Cancel(errTest))
		k := rt.ev.BeginCascade(nil)
		err := rt.changeOperation(k, event.ID(e), &change{cancel: rt.ev.FaultPoison(errCause)})
		if !errors.Is(err, ErrBegun) {
			t.Errorf("a task that has ended is canceled: %v", err)
		}
		k.EndCascade(events.CallBudget)
		var sum atomic.Int64
		gate := rt.NewUserEvent()
		var all []Event
		for i := range 4 {
			all = append(all, SpawnLocal(rt, rt.CPU(0), func(*Ctx) error {
				sum.Add(1 << (8 * i))
				return nil
			}, After(gate.Event())))
		}
		must(t, gate.Trigger(NoEvent))
		must(t, wait(t, rt, rt.Merge(all...)))
		if sum.Load() != 0x01010101 {
			t.Errorf("runs of four tasks: %#x", sum.Load())
		}
		must(t, b.Trigger(NoEvent))
	})
}
