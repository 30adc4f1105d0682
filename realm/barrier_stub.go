package realm

import "github.com/golci/golci/internal/realm/event"

func (rt *Runtime) lookBarrier(event.ID) (event.Status, *event.Poison) { return event.Unknown, nil }

func (rt *Runtime) awaitBarrier(event.ID, *event.Waiter) (event.Status, *event.Poison) {
	return event.Unknown, nil
}

func (rt *Runtime) withdrawBarrier(event.ID, *event.Waiter) bool { return false }
