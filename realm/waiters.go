package realm

import (
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// describe names the operation that w is part of.
func describe(w *event.Waiter) string {
	switch x := w.Op.(type) {
	case *task:
		return x.title()
	case *runner:
		if t := x.task; t != nil {
			return t.title() + ", which is in " + x.call.String() + ","
		}
		return x.call.String()
	case *events.Forward:
		return "the trigger of " + x.To.String()
	case *merger:
		if x.task != nil { // which may have begun, if it did not need this event any more
			return "a task with several preconditions, of " + x.to.String() + ","
		}
		return "the merged " + x.to.String()
	case *notice:
		return "a subscription"
	case *shutdown:
		return "a shutdown"
	case *events.Arrival:
		return "an arrival at " + x.Phase().String()
	case *events.BarrierEnd:
		return "the end of " + x.Cell.Core.Name()
	case *sleeper:
		return x.call.String()
	case *lockOp:
		return x.String()
	case *advice:
		return x.String()
	case *job:
		return "the " + x.String()
	case *fetching:
		return "the " + x.j.String() + ", which copies its points,"
	case *reduction:
		return "the reduction into " + x.dst.String()
	}
	return "an operation"
}
