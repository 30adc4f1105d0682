package realm

import (
	"github.com/golci/golci/realm/internal/barrier"
	"github.com/golci/golci/realm/internal/event"
)

// eachWaiter calls f for all waiters of this rank, under the lock of their event.
func (rt *rankEvents) eachWaiter(f func(e event.ID, w *event.Waiter)) {
	if n := rt.looks; n != nil {
		every := f
		f = func(e event.ID, w *event.Waiter) { n.Add(1); every(e, w) }
	}
	rt.events.eachCell(func(c *cell) {
		c.lock.Lock()
		defer c.lock.Unlock()
		e := rt.newestOf(c)
		c.slot.Waiters(func(w *event.Waiter) { f(e, w) })
	})
	rt.replicas.eachReplica(func(e event.ID, r *replica) {
		r.Waiters(func(gen uint32, w *event.Waiter) { f(e|event.ID(gen), w) })
	})
	rt.barriers.eachBarrier(func(c *barrierCell) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.core.Waiters(func(phase uint64, w *event.Waiter) { f(c.id|event.ID(barrier.Gen(phase)), w) })
	})
}

// withdrawWhere takes those that out names from the waiters of this rank. out is called for each under the lock of its
// event.
func (rt *rankEvents) withdrawWhere(out func(e event.ID, w *event.Waiter) bool) {
	rt.events.eachCell(func(c *cell) {
		c.lock.Lock()
		defer c.lock.Unlock()
		e := rt.newestOf(c)
		c.slot.WithdrawWhere(func(w *event.Waiter) bool { return out(e, w) })
	})
	rt.replicas.eachReplica(func(e event.ID, r *replica) {
		r.WithdrawWhere(func(gen uint32, w *event.Waiter) bool { return out(e|event.ID(gen), w) })
	})
	rt.barriers.eachBarrier(func(c *barrierCell) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.core.WithdrawWhere(func(phase uint64, w *event.Waiter) bool {
			return out(c.id|event.ID(barrier.Gen(phase)), w)
		})
	})
}

// newestOf is the event of c that has not triggered, or will be the next. The lock of c is held.
func (rt *rankEvents) newestOf(c *cell) event.ID {
	gen, _ := c.slot.Alive()
	return event.MakeEvent(rt.rank, int(c.index), gen)
}
