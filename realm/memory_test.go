package realm

import (
	"context"
	"runtime"
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/realm/internal/event"
)

// TestEventsAllocate: events, merges of a few and tasks with a few words of arguments take no memory once some have
// been used.
func TestEventsAllocate(t *testing.T) {
	if invariants.Race {
		t.Skip("the race detector allocates")
	}
	var chain [65]UserEvent
	var u [3]UserEvent
	someCause := event.Poison{Text: "a cause"}
	works := map[string]func(c *Ctx){
		"create and trigger": func(c *Ctx) { _ = c.rt.NewUserEvent().Trigger(NoEvent) },
		"create and cancel":  func(c *Ctx) { _ = c.rt.ev.TriggerNow("test", c.rt.ev.NewEvent(), &someCause) },
		"chain": func(c *Ctx) {
			for i := range chain {
				chain[i] = c.rt.NewUserEvent()
			}
			for i := range len(chain) - 1 {
				_ = chain[i+1].Trigger(chain[i].Event())
			}
			_ = chain[0].Trigger(NoEvent)
		},
		"merge of 3": func(c *Ctx) {
			for i := range u {
				u[i] = c.rt.NewUserEvent()
			}
			_ = c.rt.Merge(u[0].Event(), u[1].Event(), u[2].Event())
			for i := range u {
				_ = u[i].Trigger(NoEvent)
			}
		},
		"spawn": func(c *Ctx) { _ = c.Wait(Spawn(c, c.proc, nothing, args40{})) },
		"spawn after": func(c *Ctx) {
			before := c.rt.NewUserEvent()
			e := Spawn(c, c.proc, nothing, args40{}, After(before.Event()))
			_ = before.Trigger(NoEvent)
			_ = c.Wait(e)
		},
	}
	err := Run(1, func(rt *Runtime) error {
		for name, work := range works {
			must(t, rt.Wait(context.Background(), SpawnLocal(rt, rt.CPU(0), func(c *Ctx) error {
				if n := testing.AllocsPerRun(500, func() { work(c) }); n != 0 {
					t.Errorf("%s: %v allocations", name, n)
				}
				return nil
			})))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// flat does work again and again, and looks whether the heap grows after the first rounds.
func flat(t *testing.T, rounds int, work func()) {
	t.Helper()
	for range 3 {
		work()
	}
	before := heapInUse()
	for range rounds {
		work()
	}
	if grown := heapInUse() - before; grown > before/10+1<<18 {
		t.Errorf("%d bytes more after %d rounds, than the %d before", grown, rounds, before)
	}
}

// TestEventMemory: memory does not grow with events that are over, triggered or canceled, of this rank or another.
func TestEventMemory(t *testing.T) {
	rounds, live := 100, 20_000
	if testing.Short() {
		rounds, live = 10, 2000
	}
	team(t, 2, rankConfig("local"), func(rts []*Runtime) {
		a, b := rts[0], rts[1]
		us := make([]UserEvent, live)
		t.Run("live at once", func(t *testing.T) {
			flat(t, rounds, func() {
				for i := range us {
					us[i] = a.NewUserEvent()
				}
				for i := range us {
					_ = us[i].Trigger(NoEvent)
				}
			})
		})
		t.Run("created and canceled", func(t *testing.T) {
			flat(t, rounds, func() {
				for range live {
					_ = a.NewUserEvent().Cancel(nil)
				}
			})
		})
		t.Run("of another rank", func(t *testing.T) {
			flat(t, rounds, func() {
				for i := range live / 50 {
					u := a.NewUserEvent()
					if i%2 == 0 {
						_ = b.UserEvent(u.Event()).Trigger(NoEvent)
					} else {
						_ = u.Trigger(NoEvent)
					}
					must(t, a.Wait(context.Background(), u.Event()))
					must(t, b.Wait(context.Background(), u.Event()))
				}
			})
		})
	})
}
