package realm

import (
	"sync/atomic"

	"github.com/golci/golci/internal/platform/spin"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/observe"
	"github.com/golci/golci/realm/internal/reservation"
)

// FastReservation is a lock within one rank, for tasks and whatever else shares its memory. It costs less than a
// Reservation, has neither payload nor ID, and is granted in the order of the calls of Lock. NewFastReservation makes
// it; the zero FastReservation is of no use.
type FastReservation struct {
	word atomic.Uint32 // fastFree, fastTaken or fastQueued. What the holder did is published by the change from taken
	lock spin.Lock     // guards what follows, and all changes from fastQueued; nothing is taken under it
	core *reservation.Lock
	rt   *Runtime
}

// States of a FastReservation.
const (
	fastFree   = iota
	fastTaken  // by one exclusive holder; nobody waits, and core knows nothing of it
	fastQueued // core knows the holders and those who wait
)

// NewFastReservation creates a lock that nobody holds.
func (rt *Runtime) NewFastReservation() *FastReservation {
	id := event.MakeReservation(rt.ev.Self, 0)
	core := reservation.New(reservation.Config{ID: id, Self: int32(rt.ev.Self), Ranks: rt.ev.Size})
	return &FastReservation{rt: rt, core: core}
}

// TryLock takes the lock in mode m if nobody has to let go of it. It does not block.
func (f *FastReservation) TryLock(m Mode) bool {
	if m == Exclusive && f.word.CompareAndSwap(fastFree, fastTaken) {
		return true
	}
	if f.rt == nil {
		return false
	}
	f.lock.Lock()
	f.enterSlow()
	took := f.core.Try(reservation.Mode(m))
	f.lock.Unlock()
	return took
}

// Lock takes the lock in mode m, and returns the event of the grant: NoEvent if the lock was taken at once. Holders
// with one mode other than Exclusive hold it together. It does not block. After the end of the runtime the event is
// poisoned, with ErrClosed.
func (f *FastReservation) Lock(m Mode) Event {
	if f.TryLock(m) {
		return NoEvent
	}
	return f.waitFor(m)
}

func (f *FastReservation) waitFor(m Mode) Event {
	rt := f.rt
	if rt == nil {
		return noSuchEvent
	}
	if err := rt.ev.EndedError(); err != nil {
		return rt.failedEvent(err)
	}
	o := rt.newLockOp(nil, opGrant)
	o.grant = rt.ev.NewEvent()
	if rt.ev.Log.Drawn() {
		o.watch = rt.ev.Log.Begin(observe.Acquire, uint64(o.grant), 0)
		rt.ev.Log.NoteReady(o.watch, nil, nil)
	}
	grant := o.grant
	var out reservation.Out
	f.lock.Lock()
	f.enterSlow()
	took := f.core.Acquire(&o.Waiter, reservation.Mode(m), &out)
	f.lock.Unlock()
	if took {
		k := rt.ev.BeginCascade(nil)
		o.Fire(&o.Waiter, k)
		k.EndCascade(events.CallBudget)
	}
	return Event(grant)
}

// enterSlow has core decide from now on. The lock of f is held.
func (f *FastReservation) enterSlow() {
	for {
		switch f.word.Load() {
		case fastQueued:
			return
		case fastFree:
			if f.word.CompareAndSwap(fastFree, fastQueued) {
				return
			}
		case fastTaken:
			if f.word.CompareAndSwap(fastTaken, fastQueued) {
				f.core.Try(reservation.Exclusive) // for the holder
				return
			}
		}
	}
}

// Unlock ends one hold, and begins what waits for it. It does not block. ErrArgument: nobody holds the lock.
func (f *FastReservation) Unlock() error {
	if f.word.CompareAndSwap(fastTaken, fastFree) {
		return nil
	}
	if f.rt == nil {
		return errNoReservation("Unlock")
	}
	var out reservation.Out
	f.lock.Lock()
	f.enterSlow()
	err := f.core.Release(&out)
	if f.core.Idle() {
		f.word.Store(fastFree)
	}
	f.lock.Unlock()
	if err != nil {
		return f.rt.ev.CallErrorf("Unlock", "%w: nobody holds the lock", ErrArgument)
	}
	if !out.Fire.Empty() {
		k := f.rt.ev.BeginCascade(nil)
		k.List.Append(&out.Fire)
		k.EndCascade(events.CallBudget)
	}
	return nil
}
