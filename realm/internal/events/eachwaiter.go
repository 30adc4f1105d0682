package events

import (
	"github.com/golci/golci/realm/internal/barrier"
	"github.com/golci/golci/realm/internal/event"
)

// EachWaiter calls f for all waiters of this rank, under the lock of their event.
func (rt *Rank) EachWaiter(f func(e event.ID, w *event.Waiter)) {
	if n := rt.Looks; n != nil {
		every := f
		f = func(e event.ID, w *event.Waiter) { n.Add(1); every(e, w) }
	}
	rt.Events.EachCell(func(c *Cell) {
		c.Lock.Lock()
		defer c.Lock.Unlock()
		e := rt.newestOf(c)
		c.Slot.Waiters(func(w *event.Waiter) { f(e, w) })
	})
	rt.Replicas.eachReplica(func(e event.ID, r *replica) {
		r.Waiters(func(gen uint32, w *event.Waiter) { f(e|event.ID(gen), w) })
	})
	rt.Barriers.EachBarrier(func(c *BarrierCell) {
		c.Mu.Lock()
		defer c.Mu.Unlock()
		c.Core.Waiters(func(phase uint64, w *event.Waiter) { f(c.ID|event.ID(barrier.Gen(phase)), w) })
	})
}

// WithdrawWhere takes those that out names from the waiters of this rank. out is called for each under the lock of its
// event.
func (rt *Rank) WithdrawWhere(out func(e event.ID, w *event.Waiter) bool) {
	rt.Events.EachCell(func(c *Cell) {
		c.Lock.Lock()
		defer c.Lock.Unlock()
		e := rt.newestOf(c)
		c.Slot.WithdrawWhere(func(w *event.Waiter) bool { return out(e, w) })
	})
	rt.Replicas.eachReplica(func(e event.ID, r *replica) {
		r.WithdrawWhere(func(gen uint32, w *event.Waiter) bool { return out(e|event.ID(gen), w) })
	})
	rt.Barriers.EachBarrier(func(c *BarrierCell) {
		c.Mu.Lock()
		defer c.Mu.Unlock()
		c.Core.WithdrawWhere(func(phase uint64, w *event.Waiter) bool {
			return out(c.ID|event.ID(barrier.Gen(phase)), w)
		})
	})
}

// newestOf is the event of c that has not triggered, or will be the next. The lock of c is held.
func (rt *Rank) newestOf(c *Cell) event.ID {
	gen, _ := c.Slot.Alive()
	return event.MakeEvent(rt.Self, int(c.Index), gen)
}
