package realm

import (
	"sync"

	"github.com/golci/golci/realm/internal/barrier"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/fault"
	"github.com/golci/golci/realm/internal/observe"
)

// barrierCell is what this rank has of a barrier.
type barrierCell struct {
	rt *rankEvents
	id event.ID // without its generation

	mu    sync.Mutex // guards what follows; a reduction runs under it
	core  *barrier.Barrier
	out   barrier.Out     // empty while nobody holds mu
	room  []byte          // for the value of an arrival
	dirty bool            // a cascade is about to flush it
	trace *observe.Phases // nil without a timeline
}

// unlock frees the lock. What has come out of the section becomes part of the cascade, and its messages are sent.
func (c *barrierCell) unlock(k *cascade) {
	if c.trace != nil {
		c.trace.NoteKnown(c.core.Known(), k.w)
	}
	k.list.Append(&c.out.Fire)
	if c.core.Done() {
		c.unlockDone()
		return
	}
	if !c.out.Dirty && c.out.Messages == nil {
		c.mu.Unlock()
		return
	}
	if c.out.Dirty && !c.dirty {
		c.dirty = true
		k.barriers = append(k.barriers, c)
	}
	messages := c.out.Messages
	c.out = barrier.Out{}
	c.mu.Unlock()
	c.sendAll(messages)
}

// unlockDone is unlock for a barrier that this rank need not know any more.
func (c *barrierCell) unlockDone() {
	messages, owned := c.out.Messages, c.core.Owned()
	c.out = barrier.Out{}
	c.mu.Unlock()
	c.rt.barriers.dropDestroyed(c, owned)
	c.sendAll(messages)
}

func (c *barrierCell) sendAll(messages []barrier.Message) {
	var words [barrier.Words]uint64
	var payload []byte
	for i := range messages {
		m := &messages[i]
		n, p := m.Encode(c.id, &words, payload[:0])
		c.rt.postPoison(int(m.To), hBarrier, p, words[:n]...)
		payload = p
	}
}

func (c *barrierCell) wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return c.rt.callErrorf(what, "%w: %w", fault.ErrArgument, err)
}

// flushBarriers sends what the barriers of a cascade have collected.
func (k *cascade) flushBarriers() {
	for len(k.barriers) > 0 {
		n := len(k.barriers) - 1
		c := k.barriers[n]
		k.barriers = k.barriers[:n]
		c.mu.Lock()
		c.dirty = false
		c.core.Flush(&c.out)
		c.unlock(k)
	}
}

// expectDeaths has c fail when one of ranks dies. If one is dead already, its death is found here, since c is in the
// list that a later death looks through.
func (c *barrierCell) expectDeaths(ranks []int) {
	if len(ranks) == 0 {
		return
	}
	k := c.rt.beginCascade(nil)
	c.mu.Lock()
	for _, r := range ranks {
		c.core.Expect(int32(r), &c.out)
	}
	c.unlock(k)
	k.endCascade(callBudget)
}

func (rt *rankEvents) barrierConfig(id event.ID) barrier.Config {
	return barrier.Config{
		Self: int32(rt.rank), ID: id, Ops: rt.reductions, Size: rt.size, Dead: rt.died,
		Misuse: fault.NumbersOf(fault.ErrArgument),
	}
}

// died is why a rank has died; nil if it lives.
func (rt *rankEvents) died(rank int32) *event.Poison {
	if int(rank) == rt.rank || !rt.ep.Gone(int(rank)) {
		return nil
	}
	return rt.lostWith(int(rank))
}

// noBarrier is what is to be said of a phase of a barrier of which this rank has nothing: a barrier of another rank may
// be.
func (rt *rankEvents) noBarrier(e event.ID) (event.Status, *event.Poison) {
	if e.Kind() != event.Barrier || e.Rank() >= rt.size {
		return event.Unknown, nil
	}
	switch rt.barriers.goneWhy(rt, e&^event.MaxBarrierGen) {
	case barrier.NotMade:
		return event.Unknown, nil
	case barrier.Destroyed:
		return event.Triggered, rt.faultPoison(rt.callErrorf("call", "%w: %v was destroyed", fault.ErrArgument, e))
	}
	return event.Pending, nil
}

// lookBarrier is lookAtEvent for a phase of a barrier.
func (rt *rankEvents) lookBarrier(e event.ID) (event.Status, *event.Poison) {
	c := rt.barriers.findBarrier(rt, e, false)
	if c == nil {
		return rt.noBarrier(e)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if over, why := c.core.Look(c.core.Read(e.Gen()), true); over {
		return event.Triggered, why
	}
	return event.Pending, nil
}

// awaitBarrier is awaitEvent for a phase of a barrier, and its result.
func (rt *rankEvents) awaitBarrier(e event.ID, w *event.Waiter) (event.Status, *event.Poison) {
	c := rt.barriers.findBarrier(rt, e, true)
	if c == nil {
		if st, why := rt.noBarrier(e); st == event.Triggered {
			return st, why
		}
		return event.Unknown, nil
	}
	c.mu.Lock()
	over := c.core.Subscribe(c.core.Read(e.Gen()), true, w, &c.out)
	why := w.Poison
	if c.out.Dirty {
		c.out.Dirty = false
		c.core.Flush(&c.out)
	}
	messages := c.out.Messages
	c.out.Messages = nil
	c.mu.Unlock()
	c.sendAll(messages)
	if over {
		return event.Triggered, why
	}
	return event.Pending, nil
}

// withdrawBarrier is withdraw for a phase of a barrier.
func (rt *rankEvents) withdrawBarrier(e event.ID, w *event.Waiter) bool {
	c := rt.barriers.findBarrier(rt, e, false)
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.core.Withdraw(c.core.Read(e.Gen()), w)
}

// takeBarrier: another rank has a message about a barrier.
func (rt *rankEvents) takeBarrier(k *cascade, src int, args []uint64, payload []byte) error {
	id, m, err := barrier.Decode(args, payload, rt.size)
	if err != nil {
		return rt.impossible(src, "a message about", id)
	}
	m.To = int32(rt.rank)
	c := rt.barriers.findBarrier(rt, id, false)
	if c == nil {
		x := barrierCell{rt: rt, id: id}
		if barrier.Stray(rt.barrierConfig(id), &m, rt.barriers.goneWhy(rt, id), &x.out) {
			c = rt.barriers.findBarrier(rt, id, true)
		}
		x.sendAll(x.out.Messages)
	}
	if c == nil {
		return nil
	}
	c.mu.Lock()
	c.core.Receive(&m, &c.out)
	c.unlock(k)
	return nil
}

// barrierPeerGone tells all barriers of a death.
func (k *cascade) barrierPeerGone(rank int) {
	k.rt.barriers.eachBarrier(func(c *barrierCell) {
		c.mu.Lock()
		c.core.Died(int32(rank), &c.out)
		c.unlock(k)
	})
}

// barrierEnd destroys a barrier once an event has triggered.
type barrierEnd struct {
	event.Waiter
	cell *barrierCell
}

// Fire implements event.Op.
func (e *barrierEnd) Fire(w *event.Waiter, by any) {
	if w.Poison == nil {
		e.cell.destroy(by.(*cascade))
	}
}

func (c *barrierCell) destroy(k *cascade) {
	c.mu.Lock()
	c.core.Destroy(&c.out)
	c.unlock(k)
}

// arrival is arrivals at a barrier that wait for their precondition.
type arrival struct {
	event.Waiter
	cell   *barrierCell
	h      barrier.Handle
	count  int64
	value  []byte
	ignore bool
	watch  *observe.Operation // nil unless somebody wants to know
}

func (rt *rankEvents) newArrival(c *barrierCell, h barrier.Handle, count int64, ignore bool) *arrival {
	a := rt.arrivals.Get()
	if a == nil {
		a = new(arrival)
		a.Op = a
	}
	a.cell, a.h, a.count, a.ignore = c, h, count, ignore
	return a
}

// phase is the phase that a arrives at.
func (a *arrival) phase() event.ID { return a.cell.id | event.ID(barrier.Gen(a.h.Phase)) }

// Fire implements event.Op. An error has the barrier fail: there is no caller to tell.
func (a *arrival) Fire(w *event.Waiter, by any) {
	k, c := by.(*cascade), a.cell
	if err := a.make(k, w.Poison); err != nil {
		c.mu.Lock()
		c.core.Fault(c.rt.faultPoison(err), &c.out)
		c.unlock(k)
	}
}

// make makes the arrivals, and frees a.
func (a *arrival) make(k *cascade, why *event.Poison) error {
	c, w, h := a.cell, a.watch, a.h
	if w != nil {
		c.rt.log.NoteReady(w, k.w, nil)
	}
	if a.ignore {
		why = nil
	}
	c.mu.Lock()
	err := c.core.Arrive(a.h, a.count, a.value, why, &c.out)
	if c.trace != nil {
		c.trace.NoteArrivals(h.Phase, a.count)
	}
	c.unlock(k)
	a.cell, a.watch = nil, nil
	c.rt.arrivals.Put(a)
	if w != nil {
		c.rt.endArrival(k, w, err)
	}
	return c.wrap("Arrive", err)
}

// phaseEnd has the profile of an arrival wait for the end of its phase.
type phaseEnd struct {
	event.Waiter
	rt *rankEvents
	w  *observe.Operation
}

// endArrival ends w for an arrival once its phase has triggered, or at once if it has failed.
func (rt *rankEvents) endArrival(k *cascade, w *observe.Operation, err error) {
	if w.Sink == 0 {
		rt.log.Drop(w)
		return
	}
	rt.log.NoteEnd(w, k.w)
	e := &phaseEnd{rt: rt, w: w}
	e.Op = e
	if err != nil {
		rt.log.Complete(w, true, nil)
	} else if st, why := rt.awaitEvent(event.ID(w.Record[observe.Finish]), &e.Waiter); st != event.Pending {
		rt.log.Complete(w, why != nil, nil)
	}
}

// Fire implements event.Op.
func (e *phaseEnd) Fire(w *event.Waiter, _ any) { e.rt.log.Complete(e.w, w.Poison != nil, nil) }

// String says what waits.
func (e *phaseEnd) String() string { return "the profile of an arrival" }
