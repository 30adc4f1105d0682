package realm

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// TestChainOverRanks has a chain of events that belong to the ranks in turn. Each is triggered in a handler, by the
// trigger of the one before.
func TestChainOverRanks(t *testing.T) {
	for _, n := range []int{2, 3} {
		overNets(t, n, func(t *testing.T, rts []*Runtime) {
			for _, cancel := range []bool{false, true} {
				first := rts[0].NewUserEvent()
				last := first.Event()
				for i := range 1000 {
					rt := rts[i%n]
					u := rts[(i/7)%n].UserEvent(rt.NewUserEvent().Event())
					must(t, u.Trigger(last))
					last = u.Event()
				}
				if cancel {
					must(t, first.Cancel(errTest))
				} else {
					must(t, first.Trigger(NoEvent))
				}
				for _, rt := range rts {
					if err := rt.Wait(context.Background(), last); errors.Is(err, ErrPoisoned) != cancel {
						t.Errorf("rank %d: %v", rt.ev.Self, err)
					}
				}
			}
		})
	}
}

// TestWideCascade triggers, from another rank and in a call, an event that more depend on than a cascade may run at
// once. The rest is done beside.
func TestWideCascade(t *testing.T) {
	const wide = 3 * events.CallBudget
	overNets(t, 2, func(t *testing.T, rts []*Runtime) {
		rt := rts[0]
		for _, by := range rts {
			first := rt.NewUserEvent()
			ends := make([]Event, wide)
			for i := range ends {
				u := rt.NewUserEvent()
				must(t, u.Trigger(first.Event()))
				ends[i] = u.Event()
			}
			all := rt.Merge(ends...)
			must(t, by.UserEvent(first.Event()).Trigger(NoEvent))
			must(t, rt.Wait(context.Background(), all))
		}
	})
}

// fired counts how often whoever has cascade k fires it, and how often others do.
type fired struct {
	k            *events.Cascade
	mine, others atomic.Int64
	left         atomic.Int64
	over         UserEvent
}

// Fire implements event.Op.
func (f *fired) Fire(_ *event.Waiter, by any) {
	if by == any(f.k) {
		f.mine.Add(1)
	} else {
		f.others.Add(1)
	}
	if f.left.Add(-1) == 0 {
		_ = f.over.Trigger(NoEvent)
	}
}

// TestBudget: a cascade runs as many waiters as its budget says, and leaves the others to the utility processor. One
// whose waiters are as many leaves nothing.
func TestBudget(t *testing.T) {
	alone(t, 1, func(rt *Runtime) {
		for _, more := range []int{0, 1, events.CallBudget + 7} {
			const budget = 10
			k := rt.ev.BeginCascade(nil)
			f := &fired{k: k, over: rt.NewUserEvent()}
			f.left.Store(int64(budget + more))
			for range budget + more {
				k.List.Push(&event.Waiter{Op: f})
			}
			k.RunWaiters(budget)
			must(t, wait(t, rt, f.over.Event()))
			if f.mine.Load() != budget || f.others.Load() != int64(more) {
				t.Errorf("%d waiters: %d are run by the caller, %d by others", budget+more, f.mine.Load(), f.others.Load())
			}
			k.EndCascade(budget)
		}
	})
}
