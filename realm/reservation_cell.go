package realm

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/golci/golci/internal/platform/spin"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/fault"
	"github.com/golci/golci/realm/internal/observe"
	"github.com/golci/golci/realm/internal/reservation"
)

// locks has the reservations that this rank has created or used, and that are not destroyed.
type locks struct {
	mu   sync.Mutex // guards all; nothing but the lock of a cell is taken under it
	of   map[event.ID]*lockCell
	next int     // index of the last that this rank has created; the first is 1
	gone []int32 // ranks that have died, and all that they sent has been handled
}

// lockCell is a reservation on one rank. All but what lock guards does not change once the cell is in the table.
type lockCell struct {
	lock spin.Lock // guards core and, while messages take the payload in or out, bytes; nothing is taken under it
	core *reservation.Lock
	fast *reservation.Lock // core; one that refuses all if the calls are traced

	rt      *Runtime
	id      event.ID
	of      reflect.Type // of the payload
	payload unsafe.Pointer
	bytes   []byte         // of the payload
	odd     bool           // one of the following is set
	err     error          // why the handle is of no use; then there is no core
	trace   *observe.Holds // nil without a timeline
}

// addCell enters c as a reservation that this rank creates.
func (t *locks) addCell(c *lockCell) *lockCell {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	return t.putCell(event.MakeReservation(c.rt.ev.Self, t.next), c)
}

// enterCell enters c under id, and returns it, or what another has entered before.
func (t *locks) enterCell(id event.ID, c *lockCell) *lockCell {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.of[id]
	switch {
	case old != nil:
		return old
	case id.Rank() == c.rt.ev.Self && id.Index() > t.next:
		return c.rt.noLock(c.rt.ev.CallErrorf("On", "%w: there is no %v", ErrArgument, id))
	case id.Rank() == c.rt.ev.Self:
		return c.rt.noLock(c.rt.ev.CallErrorf("On", "%w: %v was destroyed", ErrArgument, id))
	}
	return t.putCell(id, c)
}

// putCell enters c. t.mu is held.
func (t *locks) putCell(id event.ID, c *lockCell) *lockCell {
	c.id = id
	c.core = reservation.New(c.config())
	c.fast = c.core
	if c.trace = c.rt.ev.Log.DrawHolds(id); c.trace != nil { // calls that need nobody else go the long way, to be noted
		c.fast, c.odd = new(reservation.Lock), true
	}
	if t.of == nil {
		t.of = make(map[event.ID]*lockCell)
	}
	t.of[id] = c
	return c
}

// eachCell calls f for all, under their locks.
func (t *locks) eachCell(f func(c *lockCell)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.of {
		c.lock.Lock()
		f(c)
		c.lock.Unlock()
	}
}

func (t *locks) findCell(id event.ID) *lockCell {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of[id]
}

// forgetCell takes a reservation that was destroyed out.
func (t *locks) forgetCell(c *lockCell) {
	t.mu.Lock()
	delete(t.of, c.id)
	t.mu.Unlock()
}

// noLock stands for a reservation that cannot be used.
func (rt *Runtime) noLock(err error) *lockCell {
	none := new(reservation.Lock)
	return &lockCell{rt: rt, err: err, odd: true, core: none, fast: none}
}

// as is c, if its payload has type t.
func (c *lockCell) as(t reflect.Type) *lockCell {
	if c.err == nil && c.of != t {
		return c.rt.noLock(c.rt.ev.CallErrorf("On", "%w: the payload of %v is %v, not %v", ErrArgument, c.id, c.of, t))
	}
	return c
}

func (c *lockCell) try(m Mode) bool {
	c.lock.Lock()
	took := c.fast.Try(reservation.Mode(m))
	c.lock.Unlock()
	return took
}

// tryNoted is try the long way.
func (c *lockCell) tryNoted(m Mode) bool {
	c.lock.Lock()
	took := c.core.Try(reservation.Mode(m))
	if c.trace != nil {
		c.trace.NoteHold(c.core.Held(), false)
	}
	c.lock.Unlock()
	return took
}

// noteGrant notes the end of an acquire. c is nil for a FastReservation.
func (c *lockCell) noteGrant(rt *Runtime, w *observe.Operation) {
	w.Peer = rt.ev.Self
	if c != nil {
		w.Record[observe.Reservation] = uint64(c.id)
		if c.trace != nil {
			c.lock.Lock()
			w.Peer = c.trace.From
			c.lock.Unlock()
		}
	}
	rt.ev.Log.NoteEnd(w, nil)
}

func (c *lockCell) held() bool {
	c.lock.Lock()
	held := c.core.Held()
	c.lock.Unlock()
	return held
}

// acquireAfter is Acquire where after may not have triggered, or the reservation is taken.
func (c *lockCell) acquireAfter(m Mode, after Event, opts []Option) Event {
	rt := c.rt
	if err := c.checkUsable(); err != nil {
		return rt.failedEvent(err)
	}
	ignore, profiler := ignoring(opts), profilerOf(opts)
	if st, why := rt.ev.LookAtEvent(event.ID(after)); st == event.Triggered && (why == nil || ignore) && c.tryNoted(m) {
		if w := rt.ev.Log.BeginFor(observe.Acquire, 0, rt.ev.Self, uint32(profiler)); w != nil {
			rt.ev.Log.NoteReady(w, nil, nil)
			w.Record[observe.Create] = w.Record[observe.Ready]
			c.noteGrant(rt, w)
			rt.ev.Log.Complete(w, false, nil)
		}
		return NoEvent
	}
	o := rt.newLockOp(c, opAcquire)
	o.mode, o.ignore = reservation.Mode(m), ignore
	if after == NoEvent {
		o.grant = rt.ev.NewEvent()
	} else {
		o.grant = rt.ev.NewEventFor(event.ID(after), &o.Waiter, events.Indexed)
	}
	o.watch = rt.ev.Log.BeginFor(observe.Acquire, uint64(o.grant), rt.ev.Self, uint32(profiler))
	grant := o.grant
	st, why := rt.ev.AwaitEvent(event.ID(after), &o.Waiter)
	switch st {
	case event.Pending:
		return Event(grant)
	case event.Unknown:
		rt.ev.LeaveIndex(grant) // after may be created later
		why = rt.ev.FaultPoison(rt.unknown("Acquire", after))
		o.ignore = false
	}
	k := rt.ev.BeginCascade(nil)
	o.acquireNow(k, why)
	k.EndCascade(events.CallBudget)
	return Event(grant)
}

// checkUsable tells why no operation can begin.
func (c *lockCell) checkUsable() error {
	if c.err != nil {
		return c.err
	}
	return c.rt.ev.EndedError()
}

// releaseNow ends a hold now.
func (c *lockCell) releaseNow() error {
	if c.odd {
		return c.releaseNoted()
	}
	var out reservation.Out
	c.lock.Lock()
	err := c.core.Release(&out)
	if out.Fire.Empty() && len(out.Send) == 0 {
		c.lock.Unlock()
		return c.wrong(err)
	}
	k := c.rt.ev.BeginCascade(nil)
	c.leaveLock(k, &out)
	k.EndCascade(events.CallBudget)
	return nil
}

// releaseNoted is release the long way.
func (c *lockCell) releaseNoted() error {
	if c.err != nil {
		return c.err
	}
	k := c.rt.ev.BeginCascade(nil)
	err := c.finishDeferred(k, opRelease, nil)
	k.EndCascade(events.CallBudget)
	return err
}

// wrong is the error of a release without a hold.
func (c *lockCell) wrong(err error) error {
	if err == nil {
		return nil
	}
	return c.rt.ev.CallErrorf("Release", "%w: %w", ErrArgument, err)
}

// defer1 does an operation once after has triggered.
func (c *lockCell) defer1(what string, after Event, op uint8) error {
	if err := c.checkUsable(); err != nil {
		return err
	}
	rt := c.rt
	o := rt.newLockOp(c, op)
	st, why := rt.ev.AwaitEvent(event.ID(after), &o.Waiter)
	switch st {
	case event.Pending:
		return nil
	case event.Unknown:
		rt.lockOps.Put(o)
		return rt.unknown(what, after)
	}
	rt.lockOps.Put(o)
	k := rt.ev.BeginCascade(nil)
	err := c.finishDeferred(k, op, why)
	k.EndCascade(events.CallBudget)
	return err
}

// finishDeferred does what defer1 has deferred.
func (c *lockCell) finishDeferred(k *events.Cascade, op uint8, why *event.Poison) error {
	switch {
	case op == opRelease && reservation.IsRefusal(c.id, why), op == opDestroy && why != nil:
		return nil
	case why != nil && why.Rest != 0:
		return c.finishAfter(k, why)
	case why != nil && why.Errors&event.Lost != 0:
		return c.releaseLost(k, why)
	}
	var out reservation.Out
	var err error
	c.lock.Lock()
	switch {
	case op == opDestroy:
		c.core.Destroy(&out)
	default:
		err = c.core.Release(&out)
	}
	c.leaveLock(k, &out)
	return c.wrong(err)
}

// finishAfter is the release after an event that was poisoned before all had triggered that it was to wait for. The
// grant may be yet to come, or to be refused.
func (c *lockCell) finishAfter(k *events.Cascade, why *event.Poison) error {
	o := c.rt.newLockOp(c, opRelease)
	o.first = why.Before(0)
	st, late := c.rt.ev.AwaitEvent(why.Rest, &o.Waiter)
	if st == event.Pending {
		return nil
	}
	o.first = nil
	c.rt.lockOps.Put(o)
	return c.finishDeferred(k, opRelease, why.Before(0).Join(late))
}

// releaseLost is the release after an event whose outcome is not known. If its owner has died, the reservation is as
// one of which a release was lost.
func (c *lockCell) releaseLost(k *events.Cascade, why *event.Poison) error {
	if !fault.HasNumber(why.Errors, ErrPeer) {
		return c.rt.ev.CallErrorf("Release", "%w: %v: an event that triggered too long ago", ErrForgotten, c.id)
	}
	var out reservation.Out
	c.lock.Lock()
	c.core.ReleaseLost(why.Rank, &out)
	c.leaveLock(k, &out)
	return nil
}
