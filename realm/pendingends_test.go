package realm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/pending"
)

// TestSourceEndsSome: calls that are named end with the error that they are given; all others, and operations, go on.
// So it is for an event of this rank, of another one, and for a phase of a barrier. It is so in a goroutine, in a task
// and in an IO task.
func TestSourceEndsSome(t *testing.T) {
	team(t, 2, rankConfig("local"), func(rts []*Runtime) {
		rt := rts[0]
		b, err := NewBarrier(rt, 1, addInts)
		must(t, err)
		here, there := rt.NewUserEvent(), rts[1].NewUserEvent()
		for name, gate := range map[string]struct {
			e       Event
			trigger func() error
		}{
			"own event":   {here.Event(), func() error { return here.Trigger(NoEvent) }},
			"other event": {there.Event(), func() error { return there.Trigger(NoEvent) }},
			"barrier":     {b.Event(), func() error { return b.Arrive(1, 1, NoEvent) }},
		} {
			task := SpawnLocal(rt, rt.CPU(0), func(*Ctx) error { return nil }, After(gate.e))
			ended, left := make(chan error, 6), make(chan error, 2)
			for range 2 {
				go func() { left <- rt.Wait(context.Background(), gate.e) }()
				go func() { ended <- rt.waitIn(context.Background(), inHost, gate.e) }()
				for _, p := range []Processor{rt.CPU(0), rt.IO()} {
					SpawnLocal(rt, p, func(c *Ctx) error { ended <- c.Wait(gate.e); return nil })
				}
			}
			awaitListed(rt, cap(left)+cap(ended)+1)
			waitSource{rt}.EndWhere(func(o *pending.Op) error {
				if o.Call == "Ctx.Wait" || o.Call == "Runtime.Host" || o.Call == "SpawnLocal" {
					return fmt.Errorf("%w: %s", errCause, o.Call)
				}
				return nil
			}, nil)
			for range cap(ended) {
				if err := <-ended; !errors.Is(err, errCause) {
					t.Errorf("%s: a call that is ended: %v", name, err)
				}
			}
			must(t, gate.trigger())
			for range cap(left) {
				must(t, <-left)
			}
			must(t, wait(t, rt, task))
		}
	})
}

// awaitListed returns when n calls and operations of rt are listed.
func awaitListed(rt *Runtime, n int) {
	for len(rt.ev.Endpoint.Pending().Ops()) != n {
		runtime.Gosched()
	}
}

// TestSourceEndsOnce: waits are ended while their event triggers, and while their context ends. Each ends in one of
// these ways, and the next wait of the same task or goroutine is none the worse.
func TestSourceEndsOnce(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	team(t, 2, rankConfig("local"), func(rts []*Runtime) {
		rt := rts[0]
		for round := range rounds {
			u := rts[round%2].NewUserEvent()
			ctx, cancel := context.WithCancelCause(context.Background())
			check := func(err error) {
				if err != nil && !errors.Is(err, errCause) && !errors.Is(err, errTest) {
					t.Errorf("round %d: %v", round, err)
				}
			}
			twice := func(wait func(e Event) error) {
				check(wait(u.Event()))
				check(wait(u.Event()))
			}
			var all sync.WaitGroup
			var tasks []Event
			for i := range 3 {
				limit := context.Background()
				if i == 0 {
					limit = ctx
				}
				all.Go(func() { twice(func(e Event) error { return rt.Wait(limit, e) }) })
				for _, p := range []Processor{rt.CPU(0), rt.IO()} {
					tasks = append(tasks, SpawnLocal(rt, p, func(*Ctx) error {
						twice(func(e Event) error { return rt.Wait(limit, e) })
						return nil
					}))
				}
			}
			for range 2 {
				all.Go(func() { waitSource{rt}.EndWhere(func(*pending.Op) error { return errCause }, nil) })
			}
			all.Go(func() { cancel(errTest) })
			all.Go(func() { must(t, u.Trigger(NoEvent)) })
			all.Wait()
			for _, e := range tasks {
				for err := errCause; errors.Is(err, errCause); { // this wait may be ended, too
					err = rt.Wait(context.Background(), e)
				}
			}
		}
	})
}

// TestEndedIOTask: an IO task whose wait is ended takes its place again.
func TestEndedIOTask(t *testing.T) {
	ioTeam(t, 1, func(rt *Runtime) {
		u := rt.NewUserEvent()
		e := SpawnLocal(rt, rt.IO(), func(c *Ctx) error {
			if err := c.Wait(u.Event()); !errors.Is(err, errCause) {
				return fmt.Errorf("the wait: %w", err)
			}
			return nil
		})
		io := rt.procs.io
		must(t, until(rt, func() bool {
			io.mu.Lock()
			defer io.mu.Unlock()
			return io.resting == 1
		}))
		waitSource{rt}.EndWhere(func(*pending.Op) error { return errCause }, nil)
		must(t, wait(t, rt, e))
		must(t, until(rt, func() bool {
			io.mu.Lock()
			defer io.mu.Unlock()
			return io.running == 0 && io.resting == 0
		}))
		must(t, u.Trigger(NoEvent))
	})
}

// TestDeadlocksClosed: a survey that the end of the rank cuts short is an error, and not a job without a circle.
func TestDeadlocksClosed(t *testing.T) {
	var got error
	mute, over := make(chan struct{}), make(chan struct{})
	err := Run(2, func(rt *Runtime) error {
		if rt.ev.Self == 0 {
			rt.ignoreQuestions.Store(true)
			close(mute)
			<-over
			return errTest
		}
		<-mute
		ended := make(chan error)
		go func() {
			_, _, err := rt.Deadlocks(context.Background())
			ended <- err
		}()
		awaitListed(rt, 1)
		close(over)
		got = <-ended
		return nil
	})
	if !errors.Is(err, errTest) || !errors.Is(got, ErrClosed) {
		t.Errorf("%v; the job: %v", got, err)
	}
}

// TestSourceShows: a call of a task is shown with its thread, and one of a goroutine without. Neither belongs to a
// communicator, and the registry ends neither for the death of the rank that owns the event.
func TestSourceShows(t *testing.T) {
	team(t, 2, rankConfig("local"), func(rts []*Runtime) {
		rt, gate := rts[0], rts[1].NewUserEvent()
		var thread atomic.Pointer[fult.Thread]
		task := SpawnLocal(rt, rt.CPU(0), func(c *Ctx) error {
			thread.Store(rt.sched.Current())
			return c.Wait(gate.Event())
		})
		done := make(chan error)
		go func() { done <- rt.Wait(context.Background(), gate.Event()) }()
		awaitListed(rt, 2)
		want := map[string]*fult.Thread{"Ctx.Wait": thread.Load(), "Runtime.Wait": nil}
		for _, o := range rt.ev.Endpoint.Pending().Ops() {
			of, known := want[o.Call]
			if !known || o.Thread != of || o.Kind != pending.Call || o.Context != pending.NoContext || o.Layer != layerName {
				t.Errorf("shown: %+v", o)
			}
			if o.Peer != 1 || o.NeedsRank(1) || o.NeedsRank(0) {
				t.Errorf("%s: peer %d; the death of a rank ends it", o.Call, o.Peer)
			}
			delete(want, o.Call)
		}
		must(t, gate.Trigger(NoEvent))
		must(t, <-done)
		must(t, wait(t, rt, task))
	})
}

// TestTaskWaitsLate: a task that begins to wait when the end of the rank has been through the waits ends its wait
// itself.
func TestTaskWaitsLate(t *testing.T) {
	alone(t, 1, func(rt *Runtime) {
		u := rt.NewUserEvent()
		got := make(chan error, 1)
		SpawnLocal(rt, rt.CPU(0), func(c *Ctx) error {
			rt.ev.Stopped.Store(true)
			err := c.Wait(u.Event())
			rt.ev.Stopped.Store(false)
			got <- err
			return nil
		})
		if err := <-got; !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		awaitListed(rt, 0)
	})
}
