package realm

import (
	"context"
	"errors"
	"testing"

	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// TestDestroyPoisoned: nothing is destroyed after an event that is poisoned, whether it was so before the call or later.
func TestDestroyPoisoned(t *testing.T) {
	team(t, 2, rankConfig("local"), func(rts []*Runtime) {
		for _, rt := range rts {
			l, err := NewReservation[int64](rts[0])
			must(t, err)
			l = l.ID().On(rt)
			before, later := rt.NewUserEvent(), rt.NewUserEvent()
			must(t, before.Cancel(nil))
			must(t, l.Destroy(before.Event()))
			must(t, l.Destroy(later.Event()))
			must(t, later.Cancel(nil))
			must(t, wait(t, rt, l.Acquire(Exclusive, NoEvent)))
			must(t, l.Release(NoEvent))
		}
	})
}

// TestNonEmptyAgain: each call of NonEmpty on an empty queue is about what comes after it.
func TestNonEmptyAgain(t *testing.T) {
	team(t, 1, rankConfig("local"), func(rts []*Runtime) {
		rt := rts[0]
		q := rt.NewCompletionQueue()
		var to [2]Completion
		for i := range 3 {
			some := q.NonEmpty()
			if done, _ := rt.HasTriggered(some); done {
				t.Fatalf("round %d: an empty queue is not empty", i)
			}
			u := rt.NewUserEvent()
			must(t, q.Add(u.Event()))
			must(t, u.Trigger(NoEvent))
			if done, _ := rt.HasTriggered(some); !done || q.Pop(to[:]) != 1 {
				t.Fatalf("round %d: a queue with a completion is empty", i)
			}
		}
	})
}

// TestPriorityOfAnother: a priority that was set for a task with several preconditions is of no other task.
func TestPriorityOfAnother(t *testing.T) {
	team(t, 1, rankConfig("local"), func(rts []*Runtime) {
		rt := rts[0]
		var order []int // by tasks of one processor
		must(t, wait(t, rt, SpawnLocal(rt, rt.CPU(0), func(c *Ctx) error {
			both := func(f func(*Ctx) error) (Event, UserEvent, UserEvent) {
				a, b := rt.NewUserEvent(), rt.NewUserEvent()
				return SpawnLocal(c, rt.CPU(0), f, After(a.Event(), b.Event())), a, b
			}
			for range 20 { // the memory of one is used for the next
				e, a, b := both(func(*Ctx) error { return nil })
				must(t, rt.SetOperationPriority(e, 9))
				must(t, errors.Join(a.Trigger(NoEvent), b.Trigger(NoEvent)))
				must(t, c.Wait(e))
				order = nil
				e, a, b = both(func(*Ctx) error { order = append(order, 0); return nil })
				must(t, errors.Join(a.Trigger(NoEvent), b.Trigger(NoEvent)))
				five := SpawnLocal(c, rt.CPU(0), func(*Ctx) error { order = append(order, 5); return nil }, Priority(5))
				must(t, errors.Join(c.Wait(five), c.Wait(e)))
				if order[0] != 5 {
					t.Fatalf("a task has the priority of another one: %v", order)
				}
			}
			return nil
		})))
	})
}

// TestEndsOfTwoRanks: the ends of tasks that two ranks have spawned on one processor go to the right ones.
func TestEndsOfTwoRanks(t *testing.T) {
	team(t, 3, rankConfig("local"), func(rts []*Runtime) {
		at := rts[2]
		events := []event.ID{
			rts[0].ev.NewEventBy(2), rts[1].ev.NewEventBy(2), rts[1].ev.NewEventBy(2), rts[0].ev.NewEventBy(2),
		}
		must(t, wait(t, at, SpawnLocal(at, at.CPU(0), func(*Ctx) error { // it has the turn
			x := &at.executorOf(at.CPU(0)).(*processor).finished
			for _, e := range events {
				x.addFinish(at, e, 1)
			}
			x.sendList(at)
			return nil
		})))
		for _, e := range events {
			must(t, wait(t, rts[e.EventRank()], Event(e)))
		}
	})
}

// TestReplicaThatWaits: what this rank knows of an event of another rank is not forgotten while somebody waits, however
// many others have become idle since it was idle itself.
func TestReplicaThatWaits(t *testing.T) {
	team(t, 2, rankConfig("local"), func(rts []*Runtime) {
		rt, at := rts[0], rts[1]
		first, heard := at.NewUserEvent(), rt.NewUserEvent()
		must(t, heard.Trigger(first.Event()))
		must(t, first.Trigger(NoEvent))
		must(t, rt.Wait(context.Background(), heard.Event())) // idle from now on
		var all, mine []Event
		again := at.NewUserEvent() // the next of the same slot
		for ; events.Without(again.e) != events.Without(first.e); again = at.NewUserEvent() {
			if all = append(all, again.Event()); len(all) > 10*events.PageCells {
				t.Fatal("no further event has the slot of the first one")
			}
		}
		follows := rt.NewUserEvent()
		must(t, follows.Trigger(again.Event()))
		for range 16 * events.KeptReplicas * 2 {
			u := at.NewUserEvent()
			all = append(all, u.Event())
		}
		for _, e := range all {
			u := rt.NewUserEvent()
			must(t, u.Trigger(e))
			mine = append(mine, u.Event())
		}
		for _, e := range all {
			must(t, at.UserEvent(e).Trigger(NoEvent))
		}
		for _, e := range mine {
			must(t, rt.Wait(context.Background(), e))
		}
		must(t, again.Trigger(NoEvent))
		must(t, wait(t, rt, follows.Event()))
	})
}

// setDown notes that its rank has asked for the end, as if the message was lost.
var setDown = Register("test.setDown", func(c *Ctx, _ int) error {
	c.Runtime().downAsked.Store(true)
	return nil
})

// TestShutdownAskedAgain: a request for the end that may be lost with a rank is repeated.
func TestShutdownAskedAgain(t *testing.T) {
	survivors(t, 3, func(rt *Runtime) {
		must(t, rt.Wait(context.Background(), Spawn(rt, ProcessorOf(2), setDown, 0)))
	}, func(ctx context.Context, rt *Runtime) {
		if err := rt.Wait(ctx, Event(rt.down)); err != nil {
			t.Errorf("rank %d: %v", rt.ev.Self, err)
		}
	})
}
