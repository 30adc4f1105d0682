package realm

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/comm/am"
	"github.com/golci/golci/internal/realm/barrier"
	"github.com/golci/golci/internal/realm/event"
)

// barrierCell is what this rank has of a barrier.
type barrierCell struct {
	rt *Runtime
	id event.ID // without its generation

	mu    sync.Mutex // guards what follows; a reduction runs under it
	core  *barrier.Barrier
	out   barrier.Out // empty while nobody holds mu
	room  []byte      // for the value of an arrival
	dirty bool        // a cascade is about to flush it
	trace *barrierTrace
}

// unlock frees the lock. What has come out of the section becomes part of the cascade, and its messages are sent.
func (c *barrierCell) unlock(k *cascade) {
	if c.trace != nil {
		c.trace.looks(c, k)
	}
	k.list.Append(&c.out.Fire)
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
	c.send(messages)
}

func (c *barrierCell) send(messages []barrier.Message) {
	var words [barrier.Words]uint64
	var payload []byte
	for i := range messages {
		m := &messages[i]
		n, p := m.Encode(c.id, &words, payload[:0])
		c.rt.post(int(m.To), hBarrier, p, words[:n]...)
		payload = p
	}
}

func (c *barrierCell) wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return c.rt.errorf(what, "%w: %w", ErrArgument, err)
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

// barriers has the barriers that this rank has made, and those of others that it has heard of.
type barriers struct {
	own    atomic.Pointer[[]*barrierCell] // by index; replaced under mu
	mu     sync.RWMutex                   // guards others
	others map[event.ID]*barrierCell
}

// create makes a barrier of this rank.
func (bs *barriers) create(rt *Runtime, count int64, op uint32, size int) (*barrierCell, error) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	var own []*barrierCell
	if p := bs.own.Load(); p != nil {
		own = *p
	}
	if len(own) > event.MaxBarrierIndex {
		return nil, rt.errorf("NewBarrier", "%d barriers of this rank", len(own))
	}
	c := &barrierCell{rt: rt, id: event.MakeBarrier(rt.rank, len(own), 0), trace: rt.newBarrierTrace()}
	var err error
	if c.core, err = barrier.New(rt.barrierConfig(c.id), count, op, size); err != nil {
		return nil, err
	}
	own = append(own, c) // nobody looks behind the length that a rank has loaded
	bs.own.Store(&own)
	return c, nil
}

// participants are the ranks that options name.
func (rt *Runtime) participants(opts []BarrierOption) (ranks []int, err error) {
	for _, o := range opts {
		ranks = append(ranks, o.ranks...)
		for r := 0; o.all && r < rt.size; r++ {
			ranks = append(ranks, r)
		}
	}
	for _, r := range ranks {
		if r < 0 || r >= rt.size {
			return nil, rt.errorf("NewBarrier", "%w: rank %d of %d is to take part", ErrArgument, r, rt.size)
		}
	}
	return ranks, nil
}

// expect has c fail when one of ranks dies. If one is dead already, its death is found here, since c is in the list
// that a later death looks through.
func (c *barrierCell) expect(ranks []int) {
	if len(ranks) == 0 {
		return
	}
	k := c.rt.begin(nil)
	c.mu.Lock()
	for _, r := range ranks {
		c.core.Expect(int32(r), &c.out)
	}
	c.unlock(k)
	k.end(callBudget)
}

func (rt *Runtime) barrierConfig(id event.ID) barrier.Config {
	return barrier.Config{Self: int32(rt.rank), ID: id, Ops: rt.reduction, Size: rt.size, Dead: rt.died}
}

// reduction is the operator with that number; nil if there is none.
func (rt *Runtime) reduction(n uint32) barrier.Op {
	if int(n) >= len(rt.catalog.defs) || rt.catalog.defs[n].fold == nil {
		return nil
	}
	return rt.catalog.defs[n].fold
}

// died is why a rank has died; nil if it lives.
func (rt *Runtime) died(rank int32) *event.Poison {
	if int(rank) == rt.rank || !rt.ep.Gone(int(rank)) {
		return nil
	}
	return rt.deathOf(int(rank))
}

// find is the barrier of an event; nil if there is none. Of a barrier that another rank has made it makes the part of
// this rank if asked to.
func (bs *barriers) find(rt *Runtime, e event.ID, create bool) *barrierCell {
	e &^= event.MaxBarrierGen
	switch {
	case e.Kind() != event.Barrier || e.Rank() >= rt.size:
		return nil
	case e.Rank() == rt.rank:
		if own := bs.own.Load(); own != nil && e.Index() < len(*own) {
			return (*own)[e.Index()]
		}
		return nil
	}
	bs.mu.RLock()
	c := bs.others[e]
	bs.mu.RUnlock()
	if c != nil || !create {
		return c
	}
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if c = bs.others[e]; c == nil {
		c = &barrierCell{rt: rt, id: e, core: barrier.NewReplica(rt.barrierConfig(e)), trace: rt.newBarrierTrace()}
		if bs.others == nil {
			bs.others = make(map[event.ID]*barrierCell)
		}
		bs.others[e] = c
	}
	return c
}

// each calls f for all barriers that this rank knows.
func (bs *barriers) each(f func(c *barrierCell)) {
	bs.mu.RLock()
	var all []*barrierCell
	if own := bs.own.Load(); own != nil {
		all = slices.Clone(*own)
	}
	for _, c := range bs.others {
		all = append(all, c)
	}
	bs.mu.RUnlock()
	for _, c := range all {
		f(c)
	}
}

// knows tells whether a barrier may be: that of another rank is taken for one.
func (rt *Runtime) knowsBarrier(e event.ID) bool {
	return e.Kind() == event.Barrier && e.Rank() < rt.size && (e.Rank() != rt.rank || rt.barriers.find(rt, e,
		false) != nil)
}

// lookBarrier is look for a phase of a barrier.
func (rt *Runtime) lookBarrier(e event.ID) (event.Status, *event.Poison) {
	c := rt.barriers.find(rt, e, false)
	switch {
	case c != nil:
	case rt.knowsBarrier(e):
		return event.Pending, nil
	default:
		return event.Unknown, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if over, why := c.core.Look(c.core.Read(e.Gen()), true); over {
		return event.Triggered, why
	}
	return event.Pending, nil
}

// awaitBarrier is await for a phase of a barrier, and its result.
func (rt *Runtime) awaitBarrier(e event.ID, w *event.Waiter) (event.Status, *event.Poison) {
	c := rt.barriers.find(rt, e, true)
	if c == nil {
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
	c.send(messages)
	if over {
		return event.Triggered, why
	}
	return event.Pending, nil
}

// withdrawBarrier is withdraw for a phase of a barrier.
func (rt *Runtime) withdrawBarrier(e event.ID, w *event.Waiter) bool {
	c := rt.barriers.find(rt, e, false)
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.core.Withdraw(c.core.Read(e.Gen()), w)
}

// onBarrier: another rank has a message about a barrier.
func (rt *Runtime) onBarrier(t *am.Token, args []uint64, payload []byte) {
	id, m, err := barrier.Decode(args, payload, rt.size)
	if err != nil {
		rt.malformed(t, "a message about", id)
		return
	}
	m.To = int32(rt.rank)
	c := rt.barriers.find(rt, id, true)
	if c == nil {
		if m.Kind <= barrier.Fault && m.From != m.To {
			c = &barrierCell{rt: rt, id: id}
			c.send([]barrier.Message{barrier.Nothing(id, m.To, &m)})
		}
		return
	}
	k := rt.begin(t.Worker())
	c.mu.Lock()
	c.core.Receive(&m, &c.out)
	c.unlock(k)
	k.end(pollBudget)
}

// barrierPeerGone tells all barriers of a death.
func (k *cascade) barrierPeerGone(rank int) {
	k.rt.barriers.each(func(c *barrierCell) {
		c.mu.Lock()
		c.core.Died(int32(rank), &c.out)
		c.unlock(k)
	})
}

// arrival is arrivals at a barrier that wait for their precondition.
type arrival struct {
	event.Waiter
	cell   *barrierCell
	h      barrier.Handle
	count  int64
	value  []byte
	ignore bool
	watch  *watch // nil unless somebody wants to know
}

func (rt *Runtime) newArrival(c *barrierCell, h barrier.Handle, count int64, ignore bool) *arrival {
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
		c.core.Fault(c.rt.poison(err), &c.out)
		c.unlock(k)
	}
}

// make makes the arrivals, and frees a.
func (a *arrival) make(k *cascade, why *event.Poison) error {
	c, w, h := a.cell, a.watch, a.h
	if w != nil {
		w.ready = c.rt.clock.Now()
	}
	if a.ignore {
		why = nil
	}
	c.mu.Lock()
	err := c.core.Arrive(a.h, a.count, a.value, why, &c.out)
	if c.trace != nil {
		c.trace.arrived(c, h.Phase, a.count)
	}
	c.unlock(k)
	a.cell, a.watch = nil, nil
	c.rt.arrivals.Put(a)
	if w != nil {
		c.arrived(k, w, h.Phase, err)
	}
	return c.wrap("Arrive", err)
}
