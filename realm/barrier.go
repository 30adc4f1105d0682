package realm

import (
	"fmt"
	"reflect"

	"github.com/golci/golci/realm/internal/barrier"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/observe"
)

// Barrier is one phase of a barrier, as one rank uses it. A phase triggers when all arrivals that it expects have
// come and the phase before has triggered. The phases of a barrier do not run out. Each may have a result, of type T,
// to which the values of the arrivals are reduced; struct{} is for none. The zero Barrier is of no use.
type Barrier[T any] struct {
	cell *events.BarrierCell
	h    barrier.Handle
}

// BarrierID names a phase of a barrier. It is a number of three words that may be compared, stored, and sent to other
// ranks of the job. It also says which alterations the arrivals through it come after.
type BarrierID[T any] struct {
	Event        Event // of the phase, or of one with the same number modulo 2^20
	Phase, Stamp uint64
}

// BarrierOption says more about a barrier: Participants.
type BarrierOption struct {
	all   bool
	ranks []int
}

// Participants are ranks without which the barrier cannot go on; none stands for all ranks of the job. If one of them
// dies, all phases that have not triggered are poisoned, and the poison names it. Without this option the death of a
// rank counts once the owner of the barrier has heard of that rank: any rank may arrive, so none is missed before.
func Participants(ranks ...int) BarrierOption { return BarrierOption{len(ranks) == 0, ranks} }

// NewBarrier creates a barrier on the rank of at, and returns its first phase. Each phase expects count arrivals. Their
// values are reduced by r; a T of struct{} takes the zero Reduction. It sends nothing and does not block. The barrier
// lives until Destroy. A rank makes at most 2^24 barriers. Errors: ErrArgument for another count than 1 to 2^40, a T
// with pointers or larger than 1024 bytes, a T without reduction, or a participant that there is not; ErrRegistered for
// a reduction that came after the start; ErrClosed.
func NewBarrier[T any](at Site, count int64, r Reduction[T], opts ...BarrierOption) (Barrier[T], error) {
	rt, _ := at.site()
	typ := reflect.TypeFor[T]()
	err := rt.ev.EndedError()
	number := 0
	switch {
	case err != nil:
		return Barrier[T]{}, err
	case !pointerFree(typ):
		return Barrier[T]{}, rt.ev.CallErrorf("NewBarrier", "%w: values of type %v have pointers", ErrArgument, typ)
	case r.def != nil && r.def.serial >= len(rt.catalog.place):
		return Barrier[T]{}, rt.ev.CallErrorf("NewBarrier", "%w: %q came after the start", ErrRegistered, r.def.name)
	case r.def != nil:
		number = rt.catalog.place[r.def.serial]
	case typ.Size() > 0:
		return Barrier[T]{}, rt.ev.CallErrorf("NewBarrier", "%w: values of type %v without a reduction", ErrArgument, typ)
	}
	expected, err := rt.participants(opts)
	if err != nil {
		return Barrier[T]{}, err
	}
	c, err := rt.ev.Barriers.Create(&rt.ev, count, uint32(number), int(typ.Size()))
	if err != nil {
		return Barrier[T]{}, rt.ev.CallErrorf("NewBarrier", "%w: %w", ErrArgument, err)
	}
	c.ExpectDeaths(expected)
	return Barrier[T]{c, barrier.Handle{Phase: 1}}, nil
}

// On is the phase that id names, for use on the rank of at. It does not block. With an id that cannot be, the methods
// of the result that have an error return ErrArgument, and its event is one that cannot be.
func (id BarrierID[T]) On(at Site) Barrier[T] {
	rt, _ := at.site()
	return Barrier[T]{rt.ev.Barriers.FindBarrier(&rt.ev, event.ID(id.Event), true), barrier.Handle{
		Phase: id.Phase,
		Stamp: barrier.Stamp(id.Stamp),
	}}
}

// ID names the phase on all ranks.
func (b Barrier[T]) ID() BarrierID[T] {
	return BarrierID[T]{b.Event(), b.h.Phase, uint64(b.h.Stamp)}
}

// Event triggers when the phase does. Whoever waits for it on some rank can have the result there. On a rank that has
// not heard of the barrier for the last 2^19 phases it may be taken for an event that cannot be waited for, which is
// poisoned. BarrierID has no such limit.
func (b Barrier[T]) Event() Event {
	if b.cell == nil {
		return Event(event.MakeBarrier(event.MaxRanks-1, event.MaxBarrierIndex, 0))
	}
	return Event(b.cell.ID | event.ID(barrier.Gen(b.h.Phase)))
}

// Next is the next phase.
func (b Barrier[T]) Next() Barrier[T] { return Barrier[T]{b.cell, b.h.Next()} }

// Previous is the phase before; of the first one a Barrier that is of no use, as the zero Barrier.
func (b Barrier[T]) Previous() Barrier[T] {
	if b.h.Phase <= 1 {
		return Barrier[T]{}
	}
	h := b.h
	h.Phase--
	return Barrier[T]{b.cell, h}
}

// Phase is the number of the phase; the first is 1.
func (b Barrier[T]) Phase() uint64 { return b.h.Phase }

func (b Barrier[T]) checkUse(what string) error {
	if b.cell == nil {
		return fmt.Errorf("realm: %s: %w: a Barrier that was not created, or was destroyed, or with an ID that cannot be",
			what, ErrArgument)
	}
	return b.cell.Rank.EndedError()
}

// Arrive makes count arrivals at the phase once after has triggered. value is one value for all of them. If after is
// poisoned, the arrivals count and poison the phase, which triggers when it is complete; unless IgnoreFaults is among
// the options. The other option is Profile. It does not block. What it lets begin is begun in the call, up to a bound.
//
// Errors: ErrArgument for another count than 1 to 2^40, and if the phase is over, expects fewer arrivals, or has
// values of another size, as far as this rank knows; ErrClosed. If that is found later, or on another rank, then this
// phase, or the next that has not triggered, and all later ones are poisoned. So they are when a rank dies that has
// used the barrier, beyond waiting for phases that were over.
func (b Barrier[T]) Arrive(count int64, value T, after Event, opts ...Option) error {
	if err := b.checkUse("Arrive"); err != nil {
		return err
	}
	c := b.cell
	if after == NoEvent && len(opts) == 0 {
		return arrive(c, b.h, count, &value)
	}
	if err := c.Core.Check(b.h, count); err != nil {
		return c.Wrap("Arrive", err)
	}
	a := c.Rank.NewArrival(c, b.h, count, ignoring(opts))
	if len(opts) > 0 {
		a.Watch = c.Rank.Log.BeginFor(observe.Arrive, uint64(a.Phase()), c.Rank.Self, uint32(profilerOf(opts)))
	}
	a.Value = append(a.Value[:0], bytesOf(&value)...)
	st, why := c.Rank.AwaitEvent(event.ID(after), &a.Waiter)
	switch st {
	case event.Pending:
		return nil
	case event.Unknown:
		c.Rank.Arrivals.Put(a)
		return c.Rank.UnknownID("Arrive", event.ID(after))
	}
	k := c.Rank.BeginCascade(nil)
	err := a.Make(k, why)
	k.EndCascade(events.CallBudget)
	return err
}

// arrive makes arrivals that have no precondition.
func arrive[T any](c *events.BarrierCell, h barrier.Handle, count int64, value *T) error {
	k := c.Rank.BeginCascade(nil)
	c.Mu.Lock()
	var v []byte
	if n := len(bytesOf(value)); n > 0 {
		if len(c.Room) < n {
			c.Room = make([]byte, n)
		}
		v = c.Room[:n]
		copy(v, bytesOf(value))
	}
	err := c.Core.Arrive(h, count, v, nil, &c.Out)
	if c.Trace != nil {
		c.Trace.NoteArrivals(h.Phase, count)
	}
	c.Unlock(k)
	k.EndCascade(events.CallBudget)
	return c.Wrap("Arrive", err)
}

// Alter has the phase expect delta arrivals more, or fewer if delta is negative; later phases do not change. It returns
// the phase as others are to use it who arrive because of the alteration: no arrival through it, on whatever rank, can
// complete the phase before the alteration has counted. The caller must be sure that the phase cannot be complete
// meanwhile: an arrival that it expects must be yet to come. Alter does not block. Errors: those of Arrive.
func (b Barrier[T]) Alter(delta int64) (Barrier[T], error) {
	if err := b.checkUse("Alter"); err != nil {
		return b, err
	}
	c := b.cell
	k := c.Rank.BeginCascade(nil)
	c.Mu.Lock()
	h, err := c.Core.Alter(b.h, delta, &c.Out)
	c.Unlock(k)
	k.EndCascade(events.CallBudget)
	return Barrier[T]{c, h}, c.Wrap("Alter", err)
}

// Result is the value of the phase, to which all values of its arrivals have been reduced. The phase must have
// triggered, and somebody on this rank must have waited for its event. The results of the last 16 phases are kept.
// It does not block. Errors: ErrArgument if one of this is not so, or the value has another size than T; ErrPoisoned.
func (b Barrier[T]) Result() (value T, err error) {
	if err := b.checkUse("Result"); err != nil {
		return value, err
	}
	c := b.cell
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if over, why := c.Core.Look(b.h.Phase, false); over && why != nil {
		return value, poisonError(b.Event(), why)
	}
	v, err := c.Core.Result(b.h.Phase)
	if room := bytesOf(&value); v != nil && copy(room, v)+len(room) != 2*len(v) {
		err = fmt.Errorf("a result of %d bytes is no %T", len(v), value)
	}
	return value, c.Wrap("Result", err)
}

// Migrate has another rank become the owner of the barrier, where its arrivals are counted. They cost no message there.
// A barrier also moves by itself, to a rank that makes more arrivals than all others together. It does not block.
// Nothing happens if that rank has died. Errors: ErrArgument for a rank that there is not; ErrClosed.
func (b Barrier[T]) Migrate(rank int) error {
	if err := b.checkUse("Migrate"); err != nil {
		return err
	}
	c := b.cell
	if rank < 0 || rank >= c.Rank.Size {
		return c.Rank.CallErrorf("Migrate", "%w: rank %d of %d", ErrArgument, rank, c.Rank.Size)
	}
	k := c.Rank.BeginCascade(nil)
	c.Mu.Lock()
	c.Core.Move(int32(rank), &c.Out)
	c.Unlock(k)
	k.EndCascade(events.CallBudget)
	return nil
}

// Destroy ends the barrier once after has triggered, on any rank. Then all phases that have not triggered are
// poisoned, later arrivals are errors, and the memory of the barrier is free on all ranks that have used it. A rank
// that has begun to wait for a phase that has triggered may find it poisoned if the owner hears of the wait after the
// end. If after is poisoned, nothing is destroyed. It does not block. A second Destroy has no effect. Errors:
// ErrArgument for an event that cannot be; ErrClosed.
func (b Barrier[T]) Destroy(after Event) error {
	if err := b.checkUse("Destroy"); err != nil {
		return err
	}
	c := b.cell
	e := &events.BarrierEnd{Cell: c}
	e.Op = e
	switch st, why := c.Rank.AwaitEvent(event.ID(after), &e.Waiter); {
	case st == event.Unknown:
		return c.Rank.UnknownID("Destroy", event.ID(after))
	case st == event.Triggered && why == nil:
		k := c.Rank.BeginCascade(nil)
		c.Destroy(k)
		k.EndCascade(events.CallBudget)
	}
	return nil
}

// participants are the ranks that options name.
func (rt *Runtime) participants(opts []BarrierOption) (ranks []int, err error) {
	for _, o := range opts {
		ranks = append(ranks, o.ranks...)
		for r := 0; o.all && r < rt.ev.Size; r++ {
			ranks = append(ranks, r)
		}
	}
	for _, r := range ranks {
		if r < 0 || r >= rt.ev.Size {
			return nil, rt.ev.CallErrorf("NewBarrier", "%w: rank %d of %d is to take part", ErrArgument, r, rt.ev.Size)
		}
	}
	return ranks, nil
}

// reduction is the operator with that number; nil if there is none.
func (rt *Runtime) reduction(n uint32) barrier.Op {
	if int(n) >= len(rt.catalog.defs) || rt.catalog.defs[n].fold == nil {
		return nil
	}
	return rt.catalog.defs[n].fold
}
