package realm

import (
	"github.com/golci/golci/fult"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// peerGone ends what depends on a rank that has died. It runs in a poll. The registry could end calls that wait here,
// and no more. The events that the rank was to trigger must be poisoned, also for other ranks and for later looks.
// Reservations and barriers move on, and messages that may be lost are sent again.
func (rt *Runtime) peerGone(rank int, err error, w *fult.Worker) {
	rt.ev.Peers.PeerOf(rank).Why.CompareAndSwap(nil, events.DeathPoison(rank, err))
	why := rt.ev.DeathOf(rank)
	k := rt.ev.BeginCascade(w)
	rt.ev.Events.EachCell(func(c *events.Cell) {
		c.Lock.Lock()
		gen, alive := c.Slot.Alive()
		expected := alive && c.Expect == int32(rank)+1
		after := event.ID(0)
		if expected {
			after = rt.ev.Events.Preceding(c)
		}
		c.Slot.Unsubscribe(int32(rank))
		c.Lock.Unlock()
		if expected {
			k.Trigger(event.MakeEvent(rt.ev.Self, int(c.Index), gen), rt.poisonBefore(why, after))
		}
	})
	for i := range rt.ev.Replicas.Shards {
		s := &rt.ev.Replicas.Shards[i]
		s.Mu.Lock()
		for e, r := range s.Of {
			if e.EventRank() == rank {
				woken := r.Die(rt.ev.LostWith(rank))
				k.List.Append(&woken)
				s.Rested(e, r)
			}
		}
		s.Mu.Unlock()
	}
	rt.locks.peerGone(k, rank)
	k.BarrierPeerGone(rank)
	rt.ev.FlowsGone(k, rank, why)
	rt.shutdownGone(k)
	rt.quiescence.peerGone(rt)
	k.EndCascade(events.PollBudget)
}
