package realm

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// endedWith is the error of a job that must not hang.
func endedWith(t *testing.T, job func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- job() }()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		t.Fatal("the job hangs")
		return nil
	}
}

// TestPendingKeepers: a task that waits for ever does not keep Finalize from its end, also if it keeps its processor,
// has others wait for that, or is an IO task.
func TestPendingKeepers(t *testing.T) {
	keep := func(c *Ctx) error {
		c.HoldProcessor()
		return c.Wait(c.Runtime().NewUserEvent().Event())
	}
	nothing := func(*Ctx) error { return nil }
	for name, begin := range map[string]func(rt *Runtime){
		"keeper": func(rt *Runtime) { SpawnLocal(rt, rt.CPU(0), keep) },
		"with others behind": func(rt *Runtime) {
			SpawnLocal(rt, rt.CPU(0), keep)
			SpawnLocal(rt, rt.CPU(0), nothing)
			SpawnLocal(rt, rt.CPU(0), nothing, Priority(1))
			SpawnLocal(rt, rt.CPU(0), nothing, Priority(-1))
		},
		"IO": func(rt *Runtime) {
			SpawnLocal(rt, rt.IO(), func(c *Ctx) error { return c.Wait(rt.NewUserEvent().Event()) })
		},
		"IO, Runtime.Wait": func(rt *Runtime) {
			SpawnLocal(rt, rt.IO(), func(*Ctx) error {
				return rt.Wait(context.Background(), rt.NewUserEvent().Event())
			})
		},
	} {
		for n := 1; n <= 2; n++ {
			err := endedWith(t, func() error {
				return Run(n, func(rt *Runtime) error {
					begin(rt)
					return nil
				})
			})
			if !errors.Is(err, ErrPending) {
				t.Errorf("%s, %d ranks: %v", name, n, err)
			}
		}
	}
}

// relay keeps its processor, or is an IO task, while another task runs in the same way on the next rank.
var relay Task[int]

var relayed atomic.Int64

func init() {
	relay = Register("relay", func(c *Ctx, left int) error {
		relayed.Add(1)
		if left == 0 {
			return nil
		}
		rt := c.Runtime()
		next := makeProcessor((rt.Rank()+1)%rt.Size(), IO, 0)
		if left%3 != 0 {
			next = makeProcessor(next.Rank(), CPU, left/2) // which is used once
		}
		c.HoldProcessor()
		return c.Wait(Spawn(c, next, relay, left-1))
	})
}

// TestQuietKeepers: a job does not end while tasks wait that keep their processors, or IO tasks, and others run for
// them.
func TestQuietKeepers(t *testing.T) {
	const steps, rounds = 15, 20
	for round := range rounds {
		relayed.Store(0)
		err := endedWith(t, func() error {
			return Run(2, func(rt *Runtime) error {
				if rt.Rank() == 0 {
					Spawn(rt, makeProcessor(0, CPU, steps), relay, steps)
				}
				return nil
			}, Config{CPUs: steps + 1})
		})
		if err != nil || relayed.Load() != steps+1 {
			t.Fatalf("round %d: %d of %d tasks, %v", round, relayed.Load(), steps+1, err)
		}
	}
}

// TestRestRace: the event of a task that keeps its processor, or of an IO task, may trigger at any time of its wait.
func TestRestRace(t *testing.T) {
	const rounds = 2000
	alone(t, 1, func(rt *Runtime) {
		for round := range rounds {
			u := rt.NewUserEvent()
			p := rt.CPU(0)
			if round%2 == 0 {
				p = rt.IO()
			}
			var begun atomic.Bool
			e := SpawnLocal(rt, p, func(c *Ctx) error {
				c.HoldProcessor()
				begun.Store(true)
				err := c.Wait(u.Event())
				if c.runner == nil {
					return err
				}
				if r := c.runner; r.rests || r.resumed {
					t.Errorf("round %d: after the wait it rests: %v, %v", round, r.rests, r.resumed)
				}
				return err
			})
			for !begun.Load() {
				time.Sleep(0)
			}
			must(t, u.Trigger(NoEvent))
			must(t, rt.Wait(context.Background(), e))
		}
		io := rt.procs.io
		io.mu.Lock()
		defer io.mu.Unlock()
		if io.resting != 0 {
			t.Errorf("%d IO tasks rest after the end", io.resting)
		}
	})
}
