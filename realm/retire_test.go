package realm

import (
	"errors"
	"testing"

	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// TestRetiredEvents cancels every other event. Each slot can do so only a few times in a row. What it then keeps is
// bounded, and right as long as it is kept. After that it goes on, so the numbers of slots do not run out.
func TestRetiredEvents(t *testing.T) {
	rounds := 4 * events.PageCells
	if !testing.Short() {
		rounds += event.Exact
	}
	const perSlot = 2*event.MaxRuns - 1 // events until the last of the runs
	err := Run(1, func(rt *Runtime) error {
		var first, newest, before Event
		for i := range rounds * perSlot {
			u := rt.NewUserEvent()
			if i%2 == 0 {
				before, newest = newest, u.Event()
				if i == 0 {
					first = newest
				}
				_ = u.Cancel(nil)
			} else {
				_ = u.Trigger(NoEvent)
			}
		}
		for _, e := range []Event{newest, before} {
			if done, err := rt.HasTriggered(e); !done || !errors.Is(err, ErrPoisoned) {
				t.Errorf("%v, canceled last: %v, %v", e, done, err)
			}
		}
		done, err := rt.HasTriggered(first)
		if !done || !errors.Is(err, ErrPoisoned) {
			t.Errorf("%v, canceled first: %v, %v", first, done, err)
		}
		// As many as keep their outcomes, and those that are in use or free.
		if n, most := len(*rt.ev.Events.Pages.Load()), event.Exact/events.PageCells+2; n > most {
			t.Errorf("%d pages of events, want %d at most", n, most)
		}
		if ok, err := rt.HasTriggered(first + 1); !testing.Short() && (!ok || err == nil) {
			t.Errorf("an event whose outcome is forgotten: %v, %v", ok, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRetiredCellIsFree: the cell that has been retired for the longest is used again once there are too many.
func TestRetiredCellIsFree(t *testing.T) {
	var x events.Table
	why := &event.Poison{Text: "why"}
	var oldest *events.Cell
	for i := range event.Exact + 1 {
		c := x.GetCell()
		for n := 0; !c.Slot.Retired(); n++ {
			c.Slot.Trigger(c.Slot.Create(), events.Nobody, [2]*event.Poison{why, nil}[n%2])
		}
		if i == 0 {
			oldest = c
		}
		if x.Retire(c); oldest.Slot.Retired() != (i < event.Exact) {
			t.Fatalf("%d cells are retired, the oldest %v", i+1, oldest.Slot.Retired())
		}
	}
	free := make(map[*events.Cell]bool)
	for range len(*x.Pages.Load())*events.PageCells - event.Exact {
		free[x.GetCell()] = true
	}
	if n := len(*x.Pages.Load()); !free[oldest] || n != event.Exact/events.PageCells+1 {
		t.Errorf("the oldest is free: %v; %d pages", free[oldest], n)
	}
}

// TestCauseIsKept: a late look at a poisoned event learns the cause, however often its slot was poisoned since with the
// same one.
func TestCauseIsKept(t *testing.T) {
	cause, again := errors.New("the cause of many"), errors.New("another cause")
	err := Run(1, func(rt *Runtime) error {
		poisoned := func(why error) Event {
			u := rt.NewUserEvent()
			_ = u.Cancel(why)
			return u.Event()
		}
		first := poisoned(cause)
		slot := events.Without(event.ID(first))
		last := NoEvent
		for uses := 0; uses < 3*event.MaxRuns; {
			if last = poisoned(cause); events.Without(event.ID(last)) == slot {
				uses++
			}
		}
		for _, e := range []Event{first, last, poisoned(again)} {
			want := cause
			if e != first && e != last {
				want = again
			}
			if _, err := rt.HasTriggered(e); !errors.Is(err, want) {
				t.Errorf("%v: %v, want %v", e, err, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
