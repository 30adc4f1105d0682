package realm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

// userEvents are n events, owned by the ranks in turn and bound to rank at.
func userEvents(rts []*Runtime, at, n int) (us []UserEvent, es []Event) {
	for i := range n {
		u := rts[at].UserEvent(rts[i%len(rts)].NewUserEvent().Event())
		us, es = append(us, u), append(es, u.Event())
	}
	return us, es
}

// TestMerge: a merge of any number triggers with the last of its events, or with the first that is poisoned; if it
// ignores faults with the last in any case.
func TestMerge(t *testing.T) {
	for _, n := range []int{1, 3} {
		overNets(t, n, func(t *testing.T, rts []*Runtime) {
			for _, k := range []int{0, 1, 2, 3, inlineMerge, inlineMerge + 1, 100} {
				for _, ignore := range []bool{false, true} {
					for _, cancel := range []int{-1, 0, k / 2, k - 1} {
						if cancel < k {
							mergeOf(t, rts, k, cancel, ignore)
						}
					}
				}
			}
		})
	}
}

// mergeOf merges k events on the last rank, and triggers them one by one, of which it cancels one.
func mergeOf(t *testing.T, rts []*Runtime, k, cancel int, ignore bool) {
	rt := rts[len(rts)-1]
	us, es := userEvents(rts, 0, k)
	m := rt.Merge(es...)
	if ignore {
		m = rt.MergeIgnoringFaults(es...)
	}
	poisoned := false
	for i, u := range us {
		if done, err := rt.HasTriggered(m); done || err != nil {
			t.Errorf("a merge of %d has triggered after %d: %v", k, i, err)
		}
		if i != cancel {
			must(t, u.Trigger(NoEvent))
			continue
		}
		must(t, u.Cancel(errTest))
		if !ignore {
			must(t, checkCause(rt.Wait(context.Background(), m), m, 0, rt.ev.Self))
			poisoned = true
			for _, u := range us[i+1:] {
				must(t, u.Trigger(NoEvent))
			}
			break
		}
	}
	if err := rt.Wait(context.Background(), m); (err != nil) != poisoned {
		t.Errorf("a merge of %d, %d is canceled, ignoring %v: %v", k, cancel, ignore, err)
	}
}

// TestMergeSame: events that are named twice, and events that have triggered, change nothing.
func TestMergeSame(t *testing.T) {
	err := Run(1, func(rt *Runtime) error {
		a, b := rt.NewUserEvent(), rt.NewUserEvent()
		if got := rt.Merge(NoEvent, a.Event(), a.Event(), NoEvent, a.Event()); got != a.Event() {
			t.Errorf("a merge of one event is %v", got)
		}
		if got := rt.Merge(); got != NoEvent {
			t.Errorf("a merge of none is %v", got)
		}
		m := rt.Merge(a.Event(), b.Event(), a.Event())
		must(t, a.Trigger(NoEvent))
		if done, err := rt.HasTriggered(m); done || err != nil {
			t.Errorf("triggered without one of them: %v", err)
		}
		must(t, b.Trigger(NoEvent))
		return rt.Wait(context.Background(), rt.Merge(m, a.Event(), b.Event()))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestMergeRace poisons one event while others, maybe the last, trigger on other threads. The merge is poisoned
// whatever comes first, and its memory is used again for the next.
func TestMergeRace(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	for _, n := range []int{1, 2} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			net := rankConfig("local")
			team(t, n, net, func(rts []*Runtime) {
				for i := range rounds {
					mergeRace(t, rts, 2+i%7, i%5 == 4)
				}
			})
		})
	}
}

func mergeRace(t *testing.T, rts []*Runtime, k int, ignore bool) {
	rt := rts[0]
	us, es := userEvents(rts, len(rts)-1, k)
	var begun sync.WaitGroup
	for i, u := range us {
		begun.Go(func() {
			if i == 0 {
				must(t, u.Cancel(errTest))
			} else {
				must(t, u.Trigger(NoEvent))
			}
		})
	}
	m := rt.Merge(es...)
	if ignore {
		m = rt.MergeIgnoringFaults(es...)
	}
	after := Spawn(rts[len(rts)-1], rt.CPU(0), nothing, args40{}, After(m))
	for _, e := range []Event{m, after} {
		if err := rt.Wait(context.Background(), e); errors.Is(err, ErrPoisoned) == ignore {
			t.Errorf("a merge of %d, ignoring %v: %v", k, ignore, err)
		}
	}
	begun.Wait()
}
