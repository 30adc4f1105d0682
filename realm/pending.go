package realm

import (
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// waitSource is what this rank's registry has of realm: calls that wait for an event, and operations that wait for
// their precondition. They are in the lists of the events. It implements pending.Source.
//
// An acquire that waits for the reservation alone is not there, nor is advice, nor Subscribe: nobody depends on these.
type waitSource struct{ rt *Runtime }

// layerName is that of the layer in the registry.
const layerName = "realm"

// Each implements pending.Source.
func (x waitSource) Each(show func(*pending.Op)) {
	var all []pending.Op
	x.rt.eachWait(func(e event.ID, w *event.Waiter) { all = append(all, pendingOp(e, w)) })
	for i := range all {
		show(&all[i])
	}
}

// EndWhere implements pending.Source. It ends calls. An operation that waits for its precondition is left alone: only
// who waits for its event could see its end, and such a call ends here, too. why is called under the locks of events.
func (x waitSource) EndWhere(why func(*pending.Op) error, w *fult.Worker) {
	var ended []waitingCall
	x.rt.ev.WithdrawWhere(func(e event.ID, at *event.Waiter) bool {
		c, is := at.Op.(waitingCall)
		if !is {
			return false
		}
		op := pendingOp(e, at)
		err := why(&op)
		if err != nil {
			c.state().ended = err
			ended = append(ended, c)
		}
		return err != nil
	})
	for _, c := range ended {
		c.releaseWaiter(w)
	}
}

// eachWait calls f for what Each shows, under the lock of the event.
func (rt *Runtime) eachWait(f func(e event.ID, w *event.Waiter)) {
	rt.ev.EachWaiter(func(e event.ID, w *event.Waiter) {
		switch x := w.Op.(type) {
		case *advice:
			return
		case *notice:
			if x.to == nil {
				return
			}
		}
		f(e, w)
	})
}

// pendingOp describes what w is part of, which waits for e. The death of a rank ends none of these: it poisons events
// (Runtime.peerGone), which end what waits for them.
func pendingOp(e event.ID, w *event.Waiter) pending.Op {
	op := pending.Op{
		Kind: pending.Call, Call: calledFor(w), Context: pending.NoContext, Peer: e.Rank(), Tag: pending.AnyTag,
		Needs: pending.Nobody, Layer: layerName,
	}
	if c, is := w.Op.(waitingCall); is {
		op.Thread = c.caller()
	}
	return op
}

// calledFor is the function that the program has called, on this rank or on another, for what w is part of.
func calledFor(w *event.Waiter) string {
	switch x := w.Op.(type) {
	case waitingCall:
		return x.state().call.String()
	case *task:
		if x.local != nil {
			return "SpawnLocal"
		}
		return "Spawn"
	case *merger:
		if x.task != nil {
			return "Spawn"
		}
		return "Runtime.Merge"
	case *events.Forward:
		return "UserEvent.Trigger"
	case *job:
		return x.kind.callOf()
	case *fetching:
		return x.j.kind.callOf()
	case *reduction:
		return "Reduce"
	case *lockOp:
		return x.callOf()
	case *events.Arrival:
		return "Barrier.Arrive"
	case *events.BarrierEnd:
		return "Barrier.Destroy"
	case *notice:
		return "CompletionQueue.Add"
	case *shutdown:
		return "Runtime.Shutdown"
	}
	return "an operation"
}
