package realm

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// waits are the ways to wait for an event.
var waits = map[string]func(rt *Runtime, e Event) error{
	"goroutine": func(rt *Runtime, e Event) error { return rt.Wait(context.Background(), e) },
	"context": func(rt *Runtime, e Event) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		return rt.Wait(ctx, e)
	},
	"task": func(rt *Runtime, e Event) error {
		var got error
		err := rt.Wait(context.Background(), SpawnLocal(rt, rt.CPU(0), func(c *Ctx) error {
			got = c.Wait(e)
			return nil
		}))
		return errors.Join(err, got)
	},
	"IO task": func(rt *Runtime, e Event) error {
		var got error
		err := rt.Wait(context.Background(), SpawnLocal(rt, rt.IO(), func(c *Ctx) error {
			got = c.Wait(e)
			return nil
		}))
		return errors.Join(err, got)
	},
	"thread": func(rt *Runtime, e Event) error {
		got := make(chan error, 1)
		if _, err := rt.sched.Go(func(*fult.Thread) { got <- rt.Wait(context.Background(), e) }); err != nil {
			return err
		}
		return <-got
	},
}

var errTest = errors.New("cause of the test")

// checkCause checks what a wait for an event of rank by has returned. The error itself is known on that rank only.
func checkCause(err error, e Event, by, at int) error {
	var pe *PoisonError
	switch {
	case !errors.Is(err, ErrPoisoned) || !errors.As(err, &pe):
		return fmt.Errorf("rank %d: %w", at, err)
	case pe.Event != e || pe.Rank != by || pe.Cause != errTest.Error():
		return fmt.Errorf("rank %d: %+v, want %v, rank %d, %q", at, pe, e, by, errTest)
	case at == by && !errors.Is(err, errTest):
		return fmt.Errorf("rank %d: %w is not the cause", at, err)
	}
	return nil
}

// TestUserEvents: each rank triggers or cancels events of each, and all ranks wait for them, in each way.
func TestUserEvents(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		overNets(t, n, func(t *testing.T, rts []*Runtime) {
			for owner := range n {
				for by := range n {
					for _, cancel := range []bool{false, true} {
						eventOf(t, rts, owner, by, cancel)
					}
				}
			}
		})
	}
}

func eventOf(t *testing.T, rts []*Runtime, owner, by int, cancel bool) {
	e := rts[owner].NewUserEvent().Event()
	results := make(chan error, len(rts)*len(waits))
	for _, rt := range rts {
		for name, wait := range waits {
			go func() {
				err := wait(rt, e)
				if cancel {
					err = checkCause(err, e, by, rt.ev.Self)
				}
				if err != nil {
					err = fmt.Errorf("%v of rank %d, by rank %d, waits: %s on rank %d: %w", e, owner, by, name,
						rt.ev.Self, err)
				}
				results <- err
			}()
		}
	}
	u := rts[by].UserEvent(e)
	if cancel {
		must(t, u.Cancel(errTest))
	} else {
		must(t, u.Trigger(NoEvent))
	}
	for range cap(results) {
		must(t, <-results)
	}
	for _, rt := range rts {
		if done, err := rt.HasTriggered(e); !done || (err != nil) != cancel {
			t.Errorf("rank %d: triggered %v, %v", rt.ev.Self, done, err)
		}
	}
}

// TestProgress: a rank answers others while its own program waits for something else, even if it has run no task.
func TestProgress(t *testing.T) {
	overNets(t, 2, func(t *testing.T, rts []*Runtime) {
		u := rts[0].NewUserEvent()
		got := make(chan error)
		go func() { got <- rts[1].Wait(context.Background(), u.Event()) }()
		must(t, u.Trigger(NoEvent))
		must(t, <-got)
	})
}

// TestEventErrors: events that cannot be, and events that have triggered, are errors.
func TestEventErrors(t *testing.T) {
	overNets(t, 2, func(t *testing.T, rts []*Runtime) {
		rt := rts[0]
		last := rt.NewUserEvent()
		defer func() { must(t, last.Trigger(NoEvent)) }()
		wrong := map[string]Event{
			"of no rank":             Event(event.MakeEvent(2, 0, 1)),
			"of the last rank":       Event(event.MakeEvent(event.MaxRanks-1, 0, 1)),
			"with a great index":     Event(event.MakeEvent(0, event.MaxIndex, 1)),
			"of a later generation":  rt.NewUserEvent().Event() + 1,
			"of no generation":       Event(event.MakeEvent(0, 0, 0)),
			"of another's beginning": Event(event.MakeEvent(1, 0, 0)),
			"of no kind":             1,
			"of a reservation":       Event(event.MakeReservation(0, 0)),
		}
		for name, e := range wrong {
			_, looked := rt.HasTriggered(e)
			for what, err := range map[string]error{
				"HasTriggered": looked,
				"Wait":         rt.Wait(context.Background(), e),
				"Wait in task": waits["task"](rt, e),
				"Trigger":      rt.UserEvent(e).Trigger(NoEvent),
				"Cancel":       rt.UserEvent(e).Cancel(nil),
				"after it":     rt.NewUserEvent().Trigger(e),
				"Merge":        rt.Wait(context.Background(), rt.Merge(e, NoEvent, last.Event())),
				"Spawn":        rt.Wait(context.Background(), Spawn(rt, rt.CPU(0), nothing, args40{}, After(e))),
			} {
				if !errors.Is(err, ErrArgument) {
					t.Errorf("%s of an event %s, %v: %v", what, name, e, err)
				}
			}
		}
		var none UserEvent
		if err := errors.Join(none.Trigger(NoEvent), nil); !errors.Is(err, ErrArgument) {
			t.Errorf("Trigger of no event: %v", err)
		}
		if err := none.Cancel(nil); !errors.Is(err, ErrArgument) {
			t.Errorf("Cancel of no event: %v", err)
		}
		for _, owner := range rts {
			u := rt.UserEvent(owner.NewUserEvent().Event())
			must(t, u.Trigger(NoEvent))
			if err := u.Trigger(NoEvent); !errors.Is(err, ErrTriggered) {
				t.Errorf("a second trigger, of an event of rank %d: %v", owner.ev.Self, err)
			}
			if err := u.Cancel(nil); !errors.Is(err, ErrTriggered) {
				t.Errorf("a trigger and Cancel, of an event of rank %d: %v", owner.ev.Self, err)
			}
			if done, err := rt.HasTriggered(u.Event()); !done || err != nil {
				t.Errorf("after a trigger and Cancel, of an event of rank %d: %v, %v", owner.ev.Self, done, err)
			}
			must(t, rt.Wait(context.Background(), u.Event()))
		}
	})
}

// TestEventMessages counts the messages of an event that all ranks wait for: at most 2N-2.
func TestEventMessages(t *testing.T) {
	for _, n := range []int{2, 3, 5} {
		overNets(t, n, func(t *testing.T, rts []*Runtime) {
			for by := range n {
				e := rts[0].NewUserEvent().Event()
				before := messagesOf(rts)
				done := make(chan error, n)
				for _, rt := range rts {
					go func() { done <- rt.Wait(context.Background(), e) }()
				}
				must(t, rts[by].UserEvent(e).Trigger(NoEvent))
				for range n {
					must(t, <-done)
				}
				if got := messagesOf(rts) - before; got > int64(2*n-2) {
					t.Errorf("%d messages for %d ranks, the trigger on rank %d", got, n, by)
				}
			}
		})
	}
}

func messagesOf(rts []*Runtime) (sum int64) {
	for _, rt := range rts {
		sent, _ := rt.ev.Peers.SumMessages()
		sum += sent
	}
	return sum
}

// TestTriggerOvertakesSubscription holds a subscription back until the trigger of the same rank has come. It gets no
// answer then, though the slot has gone on.
func TestTriggerOvertakesSubscription(t *testing.T) {
	overNets(t, 2, func(t *testing.T, rts []*Runtime) {
		a, b := rts[0], rts[1]
		u := a.NewUserEvent()
		s := &sleeper{}
		s.Op = s
		b.engine.Begin(&s.done)
		shard := b.ev.Replicas.Shard(u.e)
		shard.Mu.Lock()
		if st, _, ask := shard.Replica(u.e).Wait(u.e.Gen(), &s.Waiter); st != event.Pending || !ask {
			t.Fatalf("state %d, ask %v", st, ask)
		}
		shard.Mu.Unlock()
		before := messagesOf(rts)
		must(t, b.UserEvent(u.Event()).Trigger(NoEvent))
		b.engine.Wait(&s.done)
		must(t, a.Wait(context.Background(), u.Event()))
		c := a.ev.Events.CellAt(u.e.EventIndex())
		c.Lock.Lock()
		c.Slot.Trigger(c.Slot.Create(), 0, nil) // the slot goes on
		c.Lock.Unlock()
		b.ev.PostMessage(0, events.HSubscribe, nil, uint64(u.e))
		must(t, a.ev.OfRank.BlockUntil(func() bool {
			_, got := a.ev.Peers.SumMessages()
			sent, _ := b.ev.Peers.SumMessages()
			return got == sent
		}))
		if got := messagesOf(rts) - before; got != 2 {
			t.Errorf("%d messages, want a trigger and a subscription", got)
		}
	})
}

// TestOwnTriggerIsKnown: a rank knows what it has triggered, even when a wait for another generation of the slot begins
// a replica, which does not know it.
func TestOwnTriggerIsKnown(t *testing.T) {
	overNets(t, 2, func(t *testing.T, rts []*Runtime) {
		u := rts[1].UserEvent(rts[0].NewUserEvent().Event())
		must(t, u.Trigger(NoEvent))
		s := rts[1].ev.Replicas.Shard(u.e)
		s.Mu.Lock()
		s.Replica(u.e)
		s.Mu.Unlock()
		if done, err := rts[1].HasTriggered(u.Event()); !done || err != nil {
			t.Errorf("triggered %v, %v", done, err)
		}
	})
}
