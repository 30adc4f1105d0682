package realm

import (
	"context"
	"errors"
	"testing"
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
						t.Errorf("rank %d: %v", rt.rank, err)
					}
				}
			}
		})
	}
}

// TestWideCascade triggers, from another rank and in a call, an event that more depend on than a cascade may run at
// once. The rest is done beside.
func TestWideCascade(t *testing.T) {
	const wide = 3 * callBudget
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
