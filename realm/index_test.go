package realm

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// waitingCrowd has n tasks of a rank wait for gate, and more for what comes before them.
func waitingCrowd(rt *Runtime, n int, gate Event) (all []Event) {
	last := gate
	for i := range n {
		e := SpawnLocal(rt, rt.CPU(0), func(*Ctx) error { return nil }, After(gate))
		if i%10 == 0 {
			last = rt.Merge(last, e)
			all = append(all, last)
		}
		all = append(all, e)
	}
	return all
}

// TestChangeLooksAtNoOthers: to cancel an operation, or to change its priority, this rank looks at no other operation,
// however many wait for the same event and for others.
func TestChangeLooksAtNoOthers(t *testing.T) {
	for _, n := range []int{10, 10_000} {
		alone(t, 1, func(rt *Runtime) {
			looks := new(atomic.Int64)
			gate, other, target := rt.NewUserEvent(), rt.NewUserEvent(), rt.NewUserEvent()
			lock, err := NewReservation[int](rt)
			must(t, err)
			in, err := NewArray[int64](rt, rt.Memory(System), Range(0, 9))
			must(t, err)
			waitingCrowd(rt, n/2, gate.Event())
			must(t, target.Trigger(gate.Event()))
			task := func(*Ctx) error { return errTest }
			ops := map[string]Event{
				"task":    SpawnLocal(rt, rt.CPU(0), task, After(gate.Event())),
				"several": SpawnLocal(rt, rt.CPU(0), task, After(gate.Event(), other.Event())),
				"one":     SpawnLocal(rt, rt.CPU(0), task, After(NoEvent, gate.Event())),
				"merge":   rt.Merge(gate.Event(), other.Event()),
				"trigger": target.Event(),
				"acquire": lock.Acquire(Exclusive, gate.Event()),
				"fill":    Fill(rt, in, 0, int64(1), nil, After(gate.Event())),
				"reduce":  Reduce(rt, in, 0, foldOf(t, 5), After(gate.Event())),
			}
			rest := waitingCrowd(rt, n/2, gate.Event())
			rt.ev.Looks = looks
			for name, e := range ops {
				isTask := name == "task" || name == "several" || name == "one"
				for range 2 {
					if err := rt.SetOperationPriority(e, 3); isTask != (err == nil) || err != nil && !errors.Is(err, ErrArgument) {
						t.Errorf("%s: priority: %v", name, err)
					}
				}
				must(t, rt.CancelOperation(e, errCause))
				if done, err := rt.HasTriggered(e); !done || !errors.Is(err, errCause) {
					t.Errorf("%s is canceled: %v, %v", name, done, err)
				}
			}
			if looks.Load() != 0 {
				t.Errorf("%d of %d waiters are looked at", looks.Load(), n)
			}
			rt.ev.Looks = nil
			must(t, gate.Trigger(NoEvent))
			must(t, other.Trigger(NoEvent))
			for _, e := range rest {
				must(t, wait(t, rt, e))
			}
		})
	}
}

// entry is what the index has of the operation that finishes with e, an event of rt.
func (rt *Runtime) entry(e Event) events.WaitsFor {
	c := rt.ev.Events.CellAt(event.ID(e).EventIndex())
	c.Lock.Lock()
	defer c.Lock.Unlock()
	gen, alive := c.Slot.Alive()
	if at := rt.ev.Events.WaitingOf(c); at != nil && alive && gen == event.ID(e).Gen() && c.Expect < events.None {
		return *at
	}
	return events.WaitsFor{}
}

// TestChangeOfReused: a change finds the memory of an operation that has been canceled meanwhile, where another one
// waits for the same event. That one stays as it is.
func TestChangeOfReused(t *testing.T) {
	for _, x := range []*change{{cancel: &event.Poison{Text: "too late"}}, {priority: 5}} {
		for owner := range 2 {
			t.Run(fmt.Sprintf("event of rank %d, cancel %v", owner, x.cancel != nil), func(t *testing.T) {
				team(t, 2, rankConfig("local"), func(rts []*Runtime) {
					rt, gate := rts[1], rts[owner].NewUserEvent()
					spawn := func() Event {
						return SpawnLocal(rt, rt.CPU(0), func(c *Ctx) error {
							if c.task.priority != 0 {
								return fmt.Errorf("a task with priority %d", c.task.priority)
							}
							return nil
						}, After(gate.Event()))
					}
					first := spawn()
					found := rt.entry(first)
					must(t, rt.CancelOperation(first, nil))
					var all []Event
					for reused := false; !reused; reused = rt.entry(all[len(all)-1]).By == found.By {
						if all = append(all, spawn()); len(all) > 1000 {
							t.Fatal("the memory of a task is not used again")
						}
					}
					k := rt.ev.BeginCascade(nil)
					if err := rt.changeWaiting(k, event.ID(first), found, x); !errors.Is(err, ErrBegun) {
						t.Errorf("the change: %v", err)
					}
					k.EndCascade(events.CallBudget)
					must(t, gate.Trigger(NoEvent))
					for _, e := range all {
						must(t, wait(t, rt, e))
					}
				})
			})
		}
	}
}

// TestIndexForgets: what is not to wait any more is not in the index, on the rank of its event or on another.
func TestIndexForgets(t *testing.T) {
	team(t, 2, rankConfig("local"), func(rts []*Runtime) {
		rt, there := rts[0], rts[1]
		in, made := CreateInstance(rt, rt.MemoryOf(1, System), Range(0, 9), SOA, []Field{FieldOf[int64]("")})
		must(t, wait(t, rt, made))
		for _, how := range []string{"trigger", "cancel", "before"} {
			gate := rt.NewUserEvent()
			if how == "before" {
				must(t, gate.Trigger(NoEvent))
			}
			var all []Event
			for range 10 {
				all = append(all, Spawn(rt, ProcessorOf(1), nothing, args40{}, After(gate.Event())),
					Fill(rt, in, 0, int64(1), nil, After(gate.Event())), rt.Merge(gate.Event(), made, gate.Event()),
					Spawn(rt, rt.CPU(0), nothing, args40{}, After(gate.Event())))
			}
			if how == "cancel" {
				for _, e := range all {
					for err := rt.CancelOperation(e, nil); err == nil && !triggered(t, rt, e); {
						settle(t, rt) // it may have overtaken the operation
						err = rt.CancelOperation(e, nil)
					}
				}
			}
			if how != "before" {
				must(t, gate.Trigger(NoEvent))
			}
			for _, e := range all {
				if err := wait(t, rt, e); errors.Is(err, ErrCanceled) != (how == "cancel") {
					t.Errorf("%s: %v", how, err)
				}
				if at := rt.entry(e); at.By != nil {
					t.Errorf("%s: an operation that has ended is in the index", how)
				}
			}
			there.ev.RemoteWaits.Mu.Lock()
			if n := len(there.ev.RemoteWaits.Of); n != 0 {
				t.Errorf("%s: %d operations of the other rank are in the index", how, n)
			}
			there.ev.RemoteWaits.Mu.Unlock()
		}
	})
}

// TestChangeWhileTriggered: calls that change operations run beside the triggers of what these wait for. Each operation
// ends once: it has run, or it is canceled and has not.
func TestChangeWhileTriggered(t *testing.T) {
	const rounds, n = 200, 12
	team(t, 2, rankConfig("local"), func(rts []*Runtime) {
		rt := rts[0]
		for round := range rounds {
			gates := []UserEvent{rt.NewUserEvent(), rts[round%2].NewUserEvent()}
			var runs [n]atomic.Int32
			var all [n]Event
			for i := range all {
				after := []Event{gates[i%2].Event()}
				if i%3 == 0 {
					after = append(after, gates[1-i%2].Event())
				}
				all[i] = SpawnLocal(rt, rt.CPU(0), func(*Ctx) error { runs[i].Add(1); return nil }, After(after...))
			}
			var beside sync.WaitGroup
			for _, f := range []func(e Event){
				func(e Event) { _ = rt.SetOperationPriority(e, int32(round%3-1)) },
				func(e Event) { _ = rt.CancelOperation(e, errTest) },
				func(e Event) { _ = rt.CancelOperation(e, errTest) },
			} {
				beside.Go(func() {
					for i := range all {
						f(all[(i+round)%n])
					}
				})
			}
			for _, u := range gates {
				must(t, rt.UserEvent(u.Event()).Trigger(NoEvent))
			}
			beside.Wait()
			for i, e := range all {
				err := wait(t, rt, e)
				if ran := runs[i].Load(); ran > 1 || (ran == 1) != (err == nil) || err != nil && !errors.Is(err, errTest) {
					t.Fatalf("round %d, task %d has run %d times: %v", round, i, ran, err)
				}
			}
		}
	})
}
