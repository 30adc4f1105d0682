package realm

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

// ioTeam runs f on a rank whose IO processor has so many places.
func ioTeam(t *testing.T, places int, f func(rt *Runtime)) {
	t.Helper()
	must(t, endedWith(t, func() error {
		return RunWith(1, rankConfig("local"), func(rt *Runtime) error { f(rt); return nil }, Config{IO: places})
	}))
}

// ioWaits are the ways in which an IO task waits.
var ioWaits = map[string]func(c *Ctx, e Event) error{
	"Ctx.Wait":     (*Ctx).Wait,
	"Runtime.Wait": func(c *Ctx, e Event) error { return c.Runtime().Wait(context.Background(), e) },
	"with an end": func(c *Ctx, e Event) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		return c.Runtime().Wait(ctx, e)
	},
}

// TestIOWaitsForIO: an IO task that waits has freed its place. So it may wait for other IO tasks, at any depth and in
// any number.
func TestIOWaitsForIO(t *testing.T) {
	for name, waitIn := range ioWaits {
		t.Run(name, func(t *testing.T) { ioWaitsForIO(t, waitIn) })
	}
}

func ioWaitsForIO(t *testing.T, waitIn func(*Ctx, Event) error) {
	for _, places := range []int{1, 2} {
		ioTeam(t, places, func(rt *Runtime) {
			var deep func(c *Ctx, left int) error
			deep = func(c *Ctx, left int) error {
				if left == 0 {
					return nil
				}
				return waitIn(c, SpawnLocal(c, rt.IO(), func(c *Ctx) error { return deep(c, left-1) }))
			}
			must(t, wait(t, rt, SpawnLocal(rt, rt.IO(), func(c *Ctx) error { return deep(c, 5) })))
			u := rt.NewUserEvent()
			var all []Event
			for range 100 {
				all = append(all, SpawnLocal(rt, rt.IO(), func(c *Ctx) error { return waitIn(c, u.Event()) }))
			}
			all = append(all, SpawnLocal(rt, rt.IO(), func(*Ctx) error { return u.Trigger(NoEvent) }))
			must(t, wait(t, rt, rt.Merge(all...)))
		})
	}
}

// TestIOCanceledWait: a task whose wait ends with its context has its place again.
func TestIOCanceledWait(t *testing.T) {
	ioTeam(t, 1, func(rt *Runtime) {
		u := rt.NewUserEvent()
		ctx, cancel := context.WithCancel(context.Background())
		waited := SpawnLocal(rt, rt.IO(), func(c *Ctx) error {
			if err := rt.Wait(ctx, u.Event()); !errors.Is(err, context.Canceled) {
				t.Errorf("the wait: %v", err)
			}
			io := rt.procs.io
			return until(rt, func() bool { // the other task may still run
				io.mu.Lock()
				defer io.mu.Unlock()
				return io.running == 1 && io.resting == 0
			})
		})
		second := SpawnLocal(rt, rt.IO(), func(*Ctx) error { cancel(); return nil })
		must(t, wait(t, rt, rt.Merge(waited, second)))
		must(t, u.Trigger(NoEvent))
	})
}

// TestIOPlaces: no more IO tasks begin than there are places beside those that wait, and tasks that go on are not
// followed while there are too many.
func TestIOPlaces(t *testing.T) {
	const places = 2
	ioTeam(t, places, func(rt *Runtime) {
		u := rt.NewUserEvent()
		var inside, most, waiting atomic.Int32
		busy := func(*Ctx) error {
			n := inside.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			inside.Add(-1)
			return nil
		}
		var all []Event
		for range 8 {
			all = append(all, SpawnLocal(rt, rt.IO(), func(c *Ctx) error {
				waiting.Add(1)
				if err := c.Wait(u.Event()); err != nil {
					return err
				}
				return nil
			}))
		}
		must(t, until(rt, func() bool { return waiting.Load() == 8 }))
		block := make(chan struct{})
		for range places { // they take all places
			all = append(all, SpawnLocal(rt, rt.IO(), func(*Ctx) error { <-block; return nil }))
		}
		for range 50 {
			all = append(all, SpawnLocal(rt, rt.IO(), busy))
		}
		must(t, u.Trigger(NoEvent))
		must(t, wait(t, rt, rt.Merge(all[:8]...))) // they go on and end, and nobody follows them
		if n := most.Load(); n != 0 {
			t.Errorf("%d tasks have begun without a place", n)
		}
		close(block)
		must(t, wait(t, rt, rt.Merge(all...)))
		if n := most.Load(); n > places {
			t.Errorf("%d tasks at once in %d places", n, places)
		}
		io := rt.procs.io
		must(t, until(rt, func() bool {
			io.mu.Lock()
			defer io.mu.Unlock()
			return io.running == 0 && io.resting == 0
		}))
	})
}

// TestIORestsLate: the event of a wait may trigger before the wait is noted, or after. Either way the task that waits
// frees its place for as long as it waits, and not for ever.
func TestIORestsLate(t *testing.T) {
	p := &ioProcessor{limit: 1, running: 1}
	for _, early := range []bool{false, true} {
		s := &sleeper{io: p}
		if early {
			p.resume(s)
		}
		p.restTask(s)
		if got := p.resting; got != 0 == early {
			t.Errorf("triggered before: %v; %d tasks rest", early, got)
		}
		if !early {
			p.resume(s)
		}
		if p.resting != 0 {
			t.Fatalf("triggered before: %v; %d tasks rest after the wait", early, p.resting)
		}
	}
}

// TestMadeUpEvents: a number of an event that another rank has not made is answered. The wait for it is ErrArgument,
// and so is what depends on it; no rank ends.
func TestMadeUpEvents(t *testing.T) {
	ctx := context.Background()
	team(t, 2, rankConfig("local"), func(rts []*Runtime) {
		rt, at := rts[0], rts[1]
		real := at.NewUserEvent().Event()
		for _, e := range []Event{
			Event(uint64(real) + 1), Event(uint64(real) + 7), Event(uint64(real) + 5<<20), Event(uint64(real) + 1<<40),
		} {
			if err := rt.Wait(ctx, e); !errors.Is(err, ErrArgument) {
				t.Errorf("the wait for %v, which is not: %v", e, err)
			}
			if done, err := rt.HasTriggered(e); !done || !errors.Is(err, ErrArgument) {
				t.Errorf("%v, which is not, has triggered: %v, %v", e, done, err)
			}
			if err := rt.Wait(ctx, Spawn(rt, ProcessorOf(1), nothing, args40{}, After(e))); !errors.Is(err, ErrArgument) {
				t.Errorf("a task after %v, which is not: %v", e, err)
			}
		}
		e := Event(uint64(real) + 9)
		must(t, rt.UserEvent(e).Trigger(NoEvent)) // only the owner can know
		must(t, until(rt, func() bool { _, err := rt.HasTriggered(e); return errors.Is(err, ErrArgument) }))
		ahead := Event(uint64(real) + 1) // the next generation, which is made later
		must(t, at.UserEvent(real).Trigger(NoEvent))
		must(t, wait(t, rt, real))
		var u UserEvent
		for u = at.NewUserEvent(); u.Event() != ahead; u = at.NewUserEvent() {
		}
		must(t, u.Trigger(NoEvent))
		must(t, wait(t, at, Spawn(at, ProcessorOf(1), nothing, args40{}, After(ahead))))
	})
}
