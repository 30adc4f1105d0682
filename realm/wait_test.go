package realm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/realm/internal/event"
)

// TestWaitContext: a wait ends with its context, in a goroutine and in a task, for an event of any rank. The event goes
// on, and so does who has waited.
func TestWaitContext(t *testing.T) {
	overNets(t, 2, func(t *testing.T, rts []*Runtime) {
		rt := rts[0]
		for _, owner := range rts {
			u := rt.UserEvent(owner.NewUserEvent().Event())
			why := errors.New("no time")
			for name, wait := range map[string]func(ctx context.Context) error{
				"goroutine": func(ctx context.Context) error { return rt.Wait(ctx, u.Event()) },
				"task": func(ctx context.Context) error {
					return rt.Wait(context.Background(), SpawnLocal(rt, rt.CPU(0), func(c *Ctx) error {
						return rt.Wait(ctx, u.Event())
					}))
				},
				"IO task": func(ctx context.Context) error {
					return rt.Wait(context.Background(), SpawnLocal(rt, rt.IO(), func(c *Ctx) error {
						return rt.Wait(ctx, u.Event())
					}))
				},
			} {
				over, cancel := context.WithCancelCause(context.Background())
				cancel(why)
				if err := wait(over); !errors.Is(err, why) {
					t.Errorf("%s, event of rank %d, context over: %v", name, owner.ev.Self, err)
				}
				ctx, cancel := context.WithCancelCause(context.Background())
				time.AfterFunc(time.Millisecond, func() { cancel(why) })
				if err := wait(ctx); !errors.Is(err, why) {
					t.Errorf("%s, event of rank %d: %v", name, owner.ev.Self, err)
				}
			}
			must(t, u.Trigger(NoEvent))
			must(t, rt.Wait(context.Background(), u.Event()))
		}
		n, _ := rt.unended()
		if n != 0 {
			t.Errorf("%d waits are left", n)
		}
	})
}

// TestWaitContextRace ends a context and triggers the event at the same time. The wait ends in one of the two ways.
func TestWaitContextRace(t *testing.T) {
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	for _, n := range []int{1, 2} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			team(t, n, rankConfig("local"), func(rts []*Runtime) {
				for i := range rounds {
					waitRace(t, rts[0], rts[n-1], i%2 == 0)
				}
			})
		})
	}
}

func waitRace(t *testing.T, at, owner *Runtime, task bool) {
	u := owner.NewUserEvent()
	ctx, cancel := context.WithCancel(context.Background())
	var begun sync.WaitGroup
	begun.Go(cancel)
	begun.Go(func() { must(t, u.Trigger(NoEvent)) })
	err := errors.New("not run")
	if task {
		must(t, at.Wait(context.Background(), SpawnLocal(at, at.CPU(0), func(c *Ctx) error {
			err = at.Wait(ctx, u.Event())
			return c.Wait(u.Event())
		})))
	} else {
		err = at.Wait(ctx, u.Event())
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	begun.Wait()
	must(t, at.Wait(context.Background(), u.Event()))
}

// TestWaitBeside: a goroutine that a task has started waits with the Ctx of the task, while that runs or waits itself.
// It does so for itself: the task keeps its runner, and other tasks run.
func TestWaitBeside(t *testing.T) {
	alone(t, 1, func(rt *Runtime) {
		gate, over := rt.NewUserEvent(), rt.NewUserEvent()
		var order []int
		var beside error
		e := SpawnLocal(rt, rt.CPU(0), func(c *Ctx) error {
			go func() {
				beside = c.Wait(gate.Event())
				_ = over.Trigger(NoEvent)
			}()
			for { // until the goroutine waits
				waits := false
				rt.ev.EachWaiter(func(of event.ID, _ *event.Waiter) { waits = waits || Event(of) == gate.Event() })
				if waits {
					break
				}
				runtime.Gosched()
			}
			order = append(order, 1)
			f := SpawnLocal(c, rt.CPU(0), func(*Ctx) error { order = append(order, 2); return gate.Cancel(errTest) })
			if err := c.Wait(f); err != nil {
				return err
			}
			order = append(order, 3)
			return c.Wait(over.Event())
		})
		must(t, wait(t, rt, e))
		if !errors.Is(beside, errTest) || fmt.Sprint(order) != "[1 2 3]" {
			t.Errorf("the goroutine's wait: %v; order %v", beside, order)
		}
	})
}
