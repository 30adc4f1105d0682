package realm

import (
	"github.com/golci/golci/internal/observe/trace"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/reservation"
)

// lockTrace is what a rank with a timeline notes of a reservation. The lock of the cell guards it.
type lockTrace struct {
	p     *probe
	since uint64 // when the hold of this rank began; 0: there is none
	from  int    // the rank that has sent the reservation, or the latest grant
}

// traced has c recorded. The calls that need nobody else then go the long way, where they are noted.
func (c *lockCell) traced(p *probe) {
	c.trace = &lockTrace{p: p, from: c.id.Rank()}
	c.fast, c.odd = new(reservation.Lock), true
}

// tryNoted is try the long way.
func (c *lockCell) tryNoted(m Mode) bool {
	c.lock.Lock()
	took := c.core.Try(reservation.Mode(m))
	if c.trace != nil {
		c.trace.noted(c, false)
	}
	c.lock.Unlock()
	return took
}

// heard notes that a message of rank src has come. The lock of the cell is held.
func (t *lockTrace) heard(src int, kind reservation.Kind) {
	if kind == reservation.Transfer || kind == reservation.Grant {
		t.from = src
	}
}

// noted records a hold that is over, and notes one that has begun. granted: others hold the reservation now than
// before. c.lock is held. It is called only if there is a t.
func (t *lockTrace) noted(c *lockCell, granted bool) {
	held := c.core.Held()
	if t.since != 0 && (granted || !held) {
		t.p.addRecords(nil, trace.Record{
			Start: t.since, End: c.rt.clock.Now(), A: uint64(c.id), B: uint64(t.from), Name: t.p.hold, Kind: trace.Span,
		})
		t.since = 0
	}
	if held && t.since == 0 {
		t.since = c.rt.clock.Now()
	}
}

// granted tells of an acquire that is over, and frees its watch. grant is its event, which has triggered if it is not
// 0. c is nil for a FastReservation.
func (rt *Runtime) granted(w *operationTrace, c *lockCell, grant event.ID, why *event.Poison) {
	end := rt.now()
	x := OperationProfile{Kind: OperationAcquire, Finish: Event(grant)}
	from := rt.rank
	if c != nil {
		x.Reservation = uint64(c.id)
		if c.trace != nil {
			c.lock.Lock()
			from = c.trace.from
			c.lock.Unlock()
		}
	}
	if p := rt.probe; p != nil && w.ready != 0 && grant != 0 {
		p.addRecords(nil, trace.Record{
			Start: w.ready, End: uint64(end), A: x.Reservation, B: uint64(from), Flow: uint64(grant),
			Name: p.whole[OperationAcquire], Kind: trace.Span,
		})
	}
	if w.sink != nil {
		w.started = w.ready
		w.fillProfile(&x, why)
		x.End, x.Complete = end, end
		rt.profile(w.sink, &x)
	}
	rt.watches.Put(w)
}

// tookAtOnce tells of an acquire that needed no wait.
func (c *lockCell) tookAtOnce(profiler int32) {
	if w := c.rt.watchFor(c.rt.rank, uint32(profiler)); w != nil {
		w.ready = c.rt.clock.Now()
		w.created = w.ready
		c.rt.granted(w, c, 0, nil)
	}
}
