package realm

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// alone runs f on rank 0 of n; the others only serve.
func alone(t *testing.T, n int, f func(rt *Runtime)) {
	t.Helper()
	err := Run(n, func(rt *Runtime) error {
		if rt.Rank() == 0 {
			f(rt)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// wait waits for e and has the test fail if that takes too long.
func wait(t *testing.T, rt *Runtime, e Event) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	err := rt.Wait(ctx, e)
	if errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v does not trigger", e)
	}
	return err
}

var ran atomic.Int64

var count = Register("count", func(*Ctx, struct{}) error {
	ran.Add(1)
	return nil
})

// TestCancelOperation: a task that waits for its precondition, or for a processor, is canceled on its rank; one that
// runs is not.
func TestCancelOperation(t *testing.T) {
	because := errors.New("not needed any more")
	for n := 1; n <= 2; n++ {
		alone(t, n, func(rt *Runtime) {
			ran.Store(0)
			p := ProcessorOf(n - 1)
			gate := rt.NewUserEvent()
			e := Spawn(rt, p, count, struct{}{}, After(gate.Event()))
			f := Spawn(rt, p, count, struct{}{}, After(e))
			if err := rt.CancelOperation(e, because); err != nil {
				t.Error(err)
			}
			if err := wait(t, rt, f); !errors.Is(err, ErrPoisoned) || n == 1 && !errors.Is(err, because) {
				t.Errorf("%d ranks: %v", n, err)
			}
			_ = gate.Trigger(NoEvent)
			g := Spawn(rt, p, count, struct{}{})
			if err := wait(t, rt, g); err != nil || ran.Load() != 1 {
				t.Errorf("%d ranks: %d tasks have run, %v", n, ran.Load(), err)
			}
			if err := rt.CancelOperation(g, nil); !errors.Is(err, ErrTriggered) {
				t.Errorf("a task that has ended: %v", err)
			}
		})
	}
	alone(t, 1, func(rt *Runtime) {
		ran.Store(0)
		p := rt.CPU(0)
		var started, over UserEvent = rt.NewUserEvent(), rt.NewUserEvent()
		busy := SpawnLocal(rt, p, func(c *Ctx) error {
			_ = started.Trigger(NoEvent)
			c.HoldProcessor()
			return c.Wait(over.Event())
		})
		_ = wait(t, rt, started.Event())
		ready := Spawn(rt, p, count, struct{}{})
		must(t, rt.CancelOperation(ready, nil))
		if err := rt.CancelOperation(busy, nil); !errors.Is(err, ErrBegun) {
			t.Errorf("a task that runs: %v", err)
		}
		if err := wait(t, rt, ready); !errors.Is(err, ErrCanceled) {
			t.Errorf("a ready task: %v", err)
		}
		_ = over.Trigger(NoEvent)
		if err := wait(t, rt, busy); err != nil || ran.Load() != 0 {
			t.Errorf("a running task: %v, %d", err, ran.Load())
		}
		if err := rt.CancelOperation(Event(1<<63|99<<20|1), nil); !errors.Is(err, ErrArgument) {
			t.Errorf("an event that cannot be: %v", err)
		}
	})
}

// TestEachWaiter: whatever a task waits for, an event or a barrier of this rank or of another, it is found there. So it
// can be canceled, a dump names it, and the end of the job does.
func TestEachWaiter(t *testing.T) {
	for _, c := range []struct {
		name   string
		by     int
		create func(rt *Runtime) Event
	}{
		{"own event", 0, func(rt *Runtime) Event { return rt.NewUserEvent().Event() }},
		{"event of another rank", 1, func(rt *Runtime) Event { return rt.NewUserEvent().Event() }},
		{"own barrier", 0, barrierEvent},
		{"barrier of another rank", 1, barrierEvent},
	} {
		t.Run(c.name, func(t *testing.T) {
			var rts [2]*Runtime
			var ready sync.WaitGroup
			ready.Add(2)
			err := Run(2, func(rt *Runtime) error {
				rts[rt.ev.Self] = rt
				ready.Done()
				if ready.Wait(); rt.ev.Self > 0 {
					return nil
				}
				e := c.create(rts[c.by])
				f := Spawn(rt, rt.CPU(0), nothing, args40{}, After(e))
				dumped(t, rt, "task nothing of "+regexp.QuoteMeta(f.String())+" waits for "+regexp.QuoteMeta(e.String())+".*")
				must(t, rt.CancelOperation(f, errTest))
				if err := wait(t, rt, f); !errors.Is(err, errTest) {
					t.Errorf("a task that is canceled: %v", err)
				}
				if n, _ := rt.unended(); n != 0 {
					t.Errorf("%d operations wait after that", n)
				}
				Spawn(rt, rt.CPU(0), nothing, args40{}, After(e))
				return nil
			})
			if !errors.Is(err, ErrPending) || !strings.Contains(err.Error(), "task nothing of") {
				t.Errorf("the end of the job: %v", err)
			}
		})
	}
}

// barrierEvent is the event of a phase that nobody arrives at.
func barrierEvent(rt *Runtime) Event {
	b, err := NewBarrier(rt, 1, Reduction[struct{}]{})
	if err != nil {
		return NoEvent
	}
	return b.Event()
}

// TestPriorities: ready tasks run by their priority, then by their coming; a change counts.
func TestPriorities(t *testing.T) {
	alone(t, 1, func(rt *Runtime) {
		var order []int
		p := rt.CPU(0)
		gate := rt.NewUserEvent()
		spawn := func(i int, prio int32) Event {
			return SpawnLocal(rt, p, func(*Ctx) error { order = append(order, i); return nil }, After(gate.Event()),
				Priority(prio))
		}
		all := []Event{spawn(0, 0), spawn(1, -5), spawn(2, 7), spawn(3, 0), spawn(4, 7), spawn(5, -9)}
		if err := rt.SetOperationPriority(all[5], 9); err != nil {
			t.Error(err)
		}
		first := SpawnLocal(rt, p, func(*Ctx) error { return gate.Trigger(NoEvent) })
		_ = wait(t, rt, first)
		_ = wait(t, rt, rt.Merge(all...))
		if fmt.Sprint(order) != "[5 2 4 0 3 1]" {
			t.Errorf("order %v", order)
		}
	})
}

// TestHoldProcessor: no other task runs while the holder waits.
func TestHoldProcessor(t *testing.T) {
	alone(t, 1, func(rt *Runtime) {
		var order []int
		p := rt.CPU(0)
		gate := rt.NewUserEvent()
		a := SpawnLocal(rt, p, func(c *Ctx) error {
			c.HoldProcessor()
			_ = c.Wait(gate.Event())
			c.ReleaseProcessor()
			order = append(order, 1)
			return nil
		})
		b := SpawnLocal(rt, p, func(*Ctx) error { order = append(order, 2); return nil })
		_ = SpawnLocal(rt, rt.Utility(), func(*Ctx) error { return gate.Trigger(NoEvent) })
		_ = wait(t, rt, rt.Merge(a, b))
		if fmt.Sprint(order) != "[1 2]" {
			t.Errorf("order %v", order)
		}
	})
}

// TestCompletionQueue: events come out in the order in which they trigger, with their errors.
func TestCompletionQueue(t *testing.T) {
	alone(t, 2, func(rt *Runtime) {
		q := rt.NewCompletionQueue()
		var u [4]UserEvent
		for i := range u {
			u[i] = rt.NewUserEvent()
			if err := q.Add(u[i].Event()); err != nil {
				t.Error(err)
			}
		}
		remote := Spawn(rt, ProcessorOf(1), failTask, "remote")
		_ = q.Add(remote)
		some := q.NonEmpty()
		if done, _ := rt.HasTriggered(some); done && q.Pending() == 5 {
			t.Error("an empty queue is not empty")
		}
		_ = wait(t, rt, some)
		var got [8]Completion
		if n := q.Pop(got[:]); n != 1 || got[0].Event != remote || !errors.Is(got[0].Err, ErrPoisoned) {
			t.Errorf("%d: %+v", n, got[0])
		}
		for _, i := range []int{2, 0, 3} {
			_ = u[i].Trigger(NoEvent)
		}
		_ = q.Add(NoEvent)
		want := []Event{u[2].Event(), u[0].Event(), u[3].Event(), NoEvent}
		n := q.Pop(got[:])
		if !slices.EqualFunc(got[:n], want, func(c Completion,
			e Event,
		) bool {
			return c.Event == e && c.Err == nil
		}) || q.Pending() != 1 {
			t.Errorf("%v, %d pending", got[:n], q.Pending())
		}
		_ = u[1].Trigger(NoEvent)
	})
}

// TestGroup: the tasks of a group run on its members, and a member that waits does not hold the others up.
func TestGroup(t *testing.T) {
	err := Run(1, func(rt *Runtime) error {
		g, err := rt.NewGroup(rt.CPU(0), rt.CPU(1), rt.Utility())
		if err != nil {
			return err
		}
		gate := rt.NewUserEvent()
		blocked := SpawnLocal(rt, g, func(c *Ctx) error { c.HoldProcessor(); return c.Wait(gate.Event()) })
		var n atomic.Int64
		var all []Event
		for range 100 {
			all = append(all, SpawnLocal(rt, g, func(*Ctx) error { n.Add(1); return nil }))
		}
		_ = wait(t, rt, rt.Merge(all...))
		if n.Load() != 100 {
			t.Errorf("%d of 100 tasks", n.Load())
		}
		_ = gate.Trigger(NoEvent)
		if _, err := rt.NewGroup(rt.IO()); !errors.Is(err, ErrArgument) {
			t.Errorf("a group of an IO processor: %v", err)
		}
		return wait(t, rt, blocked)
	}, Config{CPUs: 2})
	if err != nil {
		t.Error(err)
	}
}

// TestIO: IO tasks run beside each other, also while all wait in the kernel, and may wait for events.
func TestIO(t *testing.T) {
	alone(t, 1, func(rt *Runtime) {
		const n = 8
		var in atomic.Int32
		release := make(chan struct{})
		var all []Event
		for range n {
			all = append(all, SpawnLocal(rt, rt.IO(), func(c *Ctx) error {
				if in.Add(1) == n {
					close(release)
				}
				<-release
				return c.Wait(SpawnLocal(c, c.Runtime().CPU(0), func(*Ctx) error { return nil }))
			}))
		}
		if err := wait(t, rt, rt.Merge(all...)); err != nil {
			t.Error(err)
		}
		for range 100 { // more than run at once
			for _, end := range []func(*Ctx) error{
				func(*Ctx) error { panic("at IO") },
				func(*Ctx) error { runtime.Goexit(); return nil },
			} {
				if err := wait(t, rt, SpawnLocal(rt, rt.IO(), end)); !errors.Is(err, ErrPoisoned) {
					t.Fatalf("a task that does not return: %v", err)
				}
			}
		}
	})
}

// TestGoexit: a task that ends its thread poisons its finish event, and its processor goes on.
func TestGoexit(t *testing.T) {
	alone(t, 1, func(rt *Runtime) {
		for range 3 {
			e := SpawnLocal(rt, rt.CPU(0), func(*Ctx) error { runtime.Goexit(); return nil })
			f := SpawnLocal(rt, rt.CPU(0), func(*Ctx) error { panic(errCause) })
			if err := wait(t, rt, e); !errors.Is(err, ErrPoisoned) {
				t.Errorf("Goexit: %v", err)
			}
			if err := wait(t, rt, f); !errors.Is(err, errCause) {
				t.Errorf("panic: %v", err)
			}
		}
	})
}

var errCause = errors.New("the cause")
