package events

import (
	"sync"

	"github.com/golci/golci/realm/internal/barrier"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/fault"
	"github.com/golci/golci/realm/internal/observe"
)

// BarrierCell is what this rank has of a barrier.
type BarrierCell struct {
	Rank *Rank
	ID   event.ID // without its generation

	Mu    sync.Mutex // guards what follows; a reduction runs under it
	Core  *barrier.Barrier
	Out   barrier.Out     // empty while nobody holds mu
	Room  []byte          // for the value of an arrival
	dirty bool            // a cascade is about to flush it
	Trace *observe.Phases // nil without a timeline
}

// Unlock frees the lock. What has come out of the section becomes part of the cascade, and its messages are sent.
func (c *BarrierCell) Unlock(k *Cascade) {
	if c.Trace != nil {
		c.Trace.NoteKnown(c.Core.Known(), k.By)
	}
	k.List.Append(&c.Out.Fire)
	if c.Core.Done() {
		c.unlockDone()
		return
	}
	if !c.Out.Dirty && c.Out.Messages == nil {
		c.Mu.Unlock()
		return
	}
	if c.Out.Dirty && !c.dirty {
		c.dirty = true
		k.barriers = append(k.barriers, c)
	}
	messages := c.Out.Messages
	c.Out = barrier.Out{}
	c.Mu.Unlock()
	c.sendAll(messages)
}

// unlockDone is unlock for a barrier that this rank need not know any more.
func (c *BarrierCell) unlockDone() {
	messages, owned := c.Out.Messages, c.Core.Owned()
	c.Out = barrier.Out{}
	c.Mu.Unlock()
	c.Rank.Barriers.dropDestroyed(c, owned)
	c.sendAll(messages)
}

func (c *BarrierCell) sendAll(messages []barrier.Message) {
	var words [barrier.Words]uint64
	var payload []byte
	for i := range messages {
		m := &messages[i]
		n, p := m.Encode(c.ID, &words, payload[:0])
		c.Rank.PostPoison(int(m.To), HBarrier, p, words[:n]...)
		payload = p
	}
}

func (c *BarrierCell) Wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return c.Rank.CallErrorf(what, "%w: %w", fault.ErrArgument, err)
}

// flushBarriers sends what the barriers of a cascade have collected.
func (k *Cascade) flushBarriers() {
	for len(k.barriers) > 0 {
		n := len(k.barriers) - 1
		c := k.barriers[n]
		k.barriers = k.barriers[:n]
		c.Mu.Lock()
		c.dirty = false
		c.Core.Flush(&c.Out)
		c.Unlock(k)
	}
}

// ExpectDeaths has c fail when one of ranks dies. If one is dead already, its death is found here, since c is in the
// list that a later death looks through.
func (c *BarrierCell) ExpectDeaths(ranks []int) {
	if len(ranks) == 0 {
		return
	}
	k := c.Rank.BeginCascade(nil)
	c.Mu.Lock()
	for _, r := range ranks {
		c.Core.Expect(int32(r), &c.Out)
	}
	c.Unlock(k)
	k.EndCascade(CallBudget)
}

func (rt *Rank) barrierConfig(id event.ID) barrier.Config {
	return barrier.Config{
		Self: int32(rt.Self), ID: id, Ops: rt.Reductions, Size: rt.Size, Dead: rt.died,
		Misuse: fault.NumbersOf(fault.ErrArgument),
	}
}

// died is why a rank has died; nil if it lives.
func (rt *Rank) died(rank int32) *event.Poison {
	if int(rank) == rt.Self || !rt.Endpoint.Gone(int(rank)) {
		return nil
	}
	return rt.LostWith(int(rank))
}

// noBarrier is what is to be said of a phase of a barrier of which this rank has nothing: a barrier of another rank may
// be.
func (rt *Rank) noBarrier(e event.ID) (event.Status, *event.Poison) {
	if e.Kind() != event.Barrier || e.Rank() >= rt.Size {
		return event.Unknown, nil
	}
	switch rt.Barriers.goneWhy(rt, e&^event.MaxBarrierGen) {
	case barrier.NotMade:
		return event.Unknown, nil
	case barrier.Destroyed:
		return event.Triggered, rt.FaultPoison(rt.CallErrorf("call", "%w: %v was destroyed", fault.ErrArgument, e))
	}
	return event.Pending, nil
}

// lookBarrier is LookAtEvent for a phase of a barrier.
func (rt *Rank) lookBarrier(e event.ID) (event.Status, *event.Poison) {
	c := rt.Barriers.FindBarrier(rt, e, false)
	if c == nil {
		return rt.noBarrier(e)
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if over, why := c.Core.Look(c.Core.Read(e.Gen()), true); over {
		return event.Triggered, why
	}
	return event.Pending, nil
}

// awaitBarrier is AwaitEvent for a phase of a barrier, and its result.
func (rt *Rank) awaitBarrier(e event.ID, w *event.Waiter) (event.Status, *event.Poison) {
	c := rt.Barriers.FindBarrier(rt, e, true)
	if c == nil {
		if st, why := rt.noBarrier(e); st == event.Triggered {
			return st, why
		}
		return event.Unknown, nil
	}
	c.Mu.Lock()
	over := c.Core.Subscribe(c.Core.Read(e.Gen()), true, w, &c.Out)
	why := w.Poison
	if c.Out.Dirty {
		c.Out.Dirty = false
		c.Core.Flush(&c.Out)
	}
	messages := c.Out.Messages
	c.Out.Messages = nil
	c.Mu.Unlock()
	c.sendAll(messages)
	if over {
		return event.Triggered, why
	}
	return event.Pending, nil
}

// withdrawBarrier is withdraw for a phase of a barrier.
func (rt *Rank) withdrawBarrier(e event.ID, w *event.Waiter) bool {
	c := rt.Barriers.FindBarrier(rt, e, false)
	if c == nil {
		return false
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return c.Core.Withdraw(c.Core.Read(e.Gen()), w)
}

// TakeBarrier: another rank has a message about a barrier.
func (rt *Rank) TakeBarrier(k *Cascade, src int, args []uint64, payload []byte) error {
	id, m, err := barrier.Decode(args, payload, rt.Size)
	if err != nil {
		return rt.Impossible(src, "a message about", id)
	}
	m.To = int32(rt.Self)
	c := rt.Barriers.FindBarrier(rt, id, false)
	if c == nil {
		x := BarrierCell{Rank: rt, ID: id}
		if barrier.Stray(rt.barrierConfig(id), &m, rt.Barriers.goneWhy(rt, id), &x.Out) {
			c = rt.Barriers.FindBarrier(rt, id, true)
		}
		x.sendAll(x.Out.Messages)
	}
	if c == nil {
		return nil
	}
	c.Mu.Lock()
	c.Core.Receive(&m, &c.Out)
	c.Unlock(k)
	return nil
}

// BarrierPeerGone tells all barriers of a death.
func (k *Cascade) BarrierPeerGone(rank int) {
	k.Rank.Barriers.EachBarrier(func(c *BarrierCell) {
		c.Mu.Lock()
		c.Core.Died(int32(rank), &c.Out)
		c.Unlock(k)
	})
}

// BarrierEnd destroys a barrier once an event has triggered.
type BarrierEnd struct {
	event.Waiter
	Cell *BarrierCell
}

// Fire implements event.Op.
func (e *BarrierEnd) Fire(w *event.Waiter, by any) {
	if w.Poison == nil {
		e.Cell.Destroy(by.(*Cascade))
	}
}

func (c *BarrierCell) Destroy(k *Cascade) {
	c.Mu.Lock()
	c.Core.Destroy(&c.Out)
	c.Unlock(k)
}

// Arrival is arrivals at a barrier that wait for their precondition.
type Arrival struct {
	event.Waiter
	cell   *BarrierCell
	h      barrier.Handle
	count  int64
	Value  []byte
	ignore bool
	Watch  *observe.Operation // nil unless somebody wants to know
}

func (rt *Rank) NewArrival(c *BarrierCell, h barrier.Handle, count int64, ignore bool) *Arrival {
	a := rt.Arrivals.Get()
	if a == nil {
		a = new(Arrival)
		a.Op = a
	}
	a.cell, a.h, a.count, a.ignore = c, h, count, ignore
	return a
}

// Phase is the phase that a arrives at.
func (a *Arrival) Phase() event.ID { return a.cell.ID | event.ID(barrier.Gen(a.h.Phase)) }

// Fire implements event.Op. An error has the barrier fail: there is no caller to tell.
func (a *Arrival) Fire(w *event.Waiter, by any) {
	k, c := by.(*Cascade), a.cell
	if err := a.Make(k, w.Poison); err != nil {
		c.Mu.Lock()
		c.Core.Fault(c.Rank.FaultPoison(err), &c.Out)
		c.Unlock(k)
	}
}

// Make makes the arrivals, and frees a.
func (a *Arrival) Make(k *Cascade, why *event.Poison) error {
	c, w, h := a.cell, a.Watch, a.h
	if w != nil {
		c.Rank.Log.NoteReady(w, k.By, nil)
	}
	if a.ignore {
		why = nil
	}
	c.Mu.Lock()
	err := c.Core.Arrive(a.h, a.count, a.Value, why, &c.Out)
	if c.Trace != nil {
		c.Trace.NoteArrivals(h.Phase, a.count)
	}
	c.Unlock(k)
	a.cell, a.Watch = nil, nil
	c.Rank.Arrivals.Put(a)
	if w != nil {
		c.Rank.endArrival(k, w, err)
	}
	return c.Wrap("Arrive", err)
}

// phaseEnd makes the profile of an arrival wait for the end of its phase.
type phaseEnd struct {
	event.Waiter
	Rank *Rank
	By   *observe.Operation
}

// endArrival ends w for an arrival once its phase has triggered, or at once if it has failed.
func (rt *Rank) endArrival(k *Cascade, w *observe.Operation, err error) {
	if w.Sink == 0 {
		rt.Log.Drop(w)
		return
	}
	rt.Log.NoteEnd(w, k.By)
	e := &phaseEnd{Rank: rt, By: w}
	e.Op = e
	if err != nil {
		rt.Log.Complete(w, true, nil)
	} else if st, why := rt.AwaitEvent(event.ID(w.Record[observe.Finish]), &e.Waiter); st != event.Pending {
		rt.Log.Complete(w, why != nil, nil)
	}
}

// Fire implements event.Op.
func (e *phaseEnd) Fire(w *event.Waiter, _ any) { e.Rank.Log.Complete(e.By, w.Poison != nil, nil) }

// String says what waits.
func (e *phaseEnd) String() string { return "the profile of an arrival" }
