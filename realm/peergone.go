package realm

import (
	"github.com/golci/golci/fult"
	"github.com/golci/golci/realm/internal/event"
)

// peerGone ends what depends on a rank that has died. It runs in a poll. The registry could end calls that wait here,
// and no more. The events that the rank was to trigger must be poisoned, also for other ranks and for later looks.
// Reservations and barriers move on, and messages that may be lost are sent again.
func (rt *Runtime) peerGone(rank int, err error, w *fult.Worker) {
	rt.peers.peerOf(rank).why.CompareAndSwap(nil, deathPoison(rank, err))
	why := rt.deathOf(rank)
	k := rt.beginCascade(w)
	rt.events.eachCell(func(c *cell) {
		c.lock.Lock()
		gen, alive := c.slot.Alive()
		expected := alive && c.expect == int32(rank)+1
		after := event.ID(0)
		if expected {
			after = rt.events.preceding(c)
		}
		c.slot.Unsubscribe(int32(rank))
		c.lock.Unlock()
		if expected {
			k.trigger(event.MakeEvent(rt.rank, int(c.index), gen), rt.poisonBefore(why, after))
		}
	})
	for i := range rt.replicas.shards {
		s := &rt.replicas.shards[i]
		s.mu.Lock()
		for e, r := range s.of {
			if e.EventRank() == rank {
				woken := r.Die(rt.lostWith(rank))
				k.list.Append(&woken)
				s.rested(e, r)
			}
		}
		s.mu.Unlock()
	}
	rt.locks.peerGone(k, rank)
	k.barrierPeerGone(rank)
	rt.flowsGone(k, rank, why)
	rt.shutdownGone(k)
	rt.quiescence.peerGone(rt)
	k.endCascade(pollBudget)
}
