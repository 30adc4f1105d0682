package realm

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// survivors runs f on each rank of n but rank 1, which has died then, as all of them know. before is called on rank 0
// while rank 1 lives.
func survivors(t *testing.T, n int, before func(rt *Runtime), f func(ctx context.Context, rt *Runtime)) {
	t.Helper()
	end := errors.New("the end") // what has lost its conduit cannot finalize
	die, over := make(chan struct{}), make(chan struct{})
	done := make(chan struct{}, n)
	_ = Run(n, func(rt *Runtime) error {
		if rt.Rank() == 1 {
			<-die
			err := rt.ev.Endpoint.Conduit().Close()
			for range n - 1 {
				<-done
			}
			close(over)
			return errors.Join(end, err)
		}
		if rt.Rank() == 0 {
			before(rt)
			close(die)
		}
		must(t, rt.OfRank().BlockUntil(func() bool { return rt.ev.Endpoint.Gone(1) }))
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		f(ctx, rt)
		done <- struct{}{}
		<-over
		return end
	})
}

// TestDeadRanks: a question to a rank that has died has an answer, and a spawn there is poisoned.
func TestDeadRanks(t *testing.T) {
	survivors(t, 3, func(*Runtime) {}, func(ctx context.Context, rt *Runtime) {
		if _, err := rt.Processors(ctx, 1, CPU); !errors.Is(err, ErrPoisoned) {
			t.Errorf("rank %d: processors: %v", rt.ev.Self, err)
		}
		if _, err := rt.Host(ctx, 1); !errors.Is(err, ErrPoisoned) {
			t.Errorf("rank %d: host: %v", rt.ev.Self, err)
		}
		if _, _, err := rt.Deadlocks(ctx); err != nil {
			t.Errorf("rank %d: deadlocks: %v", rt.ev.Self, err)
		}
		if err := rt.Wait(ctx, Spawn(rt, ProcessorOf(1), nothing, args40{})); !errors.Is(err, ErrPoisoned) {
			t.Errorf("rank %d: spawn: %v", rt.ev.Self, err)
		}
	})
}

// TestAfterDeath: what is sent to a rank that is known to be dead is dropped, and nobody looks through the events of
// that rank again. So the sender ends what it has begun, before its call returns.
func TestAfterDeath(t *testing.T) {
	survivors(t, 2, func(*Runtime) {}, func(_ context.Context, rt *Runtime) {
		args := make([]int64, rt.ev.Endpoint.MaxMedium())
		long := Spawn(rt, ProcessorOf(1), lengthTask, args) // the offer of a parcel, which returns no error
		never := Event(event.MakeEvent(1, 5, 1))            // this rank has not asked for it before
		must(t, rt.Subscribe(never))
		for what, e := range map[string]Event{"a long spawn": long, "an event": never} {
			if done, err := rt.HasTriggered(e); !done || !errors.Is(err, ErrPeer) {
				t.Errorf("%s of a dead rank: has triggered %v, %v", what, done, err)
			}
		}
	})
}

// TestShutdownWithDeath: the news of the end reaches all ranks that live, though it was lost with a rank that was to
// pass it on.
func TestShutdownWithDeath(t *testing.T) {
	survivors(t, 7, func(rt *Runtime) {
		k := rt.ev.BeginCascade(nil)
		k.Trigger(rt.down, nil) // and what it has told its children is lost
		k.EndCascade(events.CallBudget)
	}, func(ctx context.Context, rt *Runtime) {
		if err := rt.Wait(ctx, Event(rt.down)); err != nil {
			t.Errorf("rank %d: %v", rt.ev.Self, err)
		}
	})
}
