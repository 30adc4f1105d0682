package realm

import (
	"github.com/golci/golci/internal/observe/trace"
	"github.com/golci/golci/realm/internal/barrier"
	"github.com/golci/golci/realm/internal/event"
)

// barrierTrace is what a rank with a timeline notes of a barrier. The lock of the cell guards it.
type barrierTrace struct {
	p     *probe
	known uint64            // the last phase that this rank knows to have triggered
	began map[uint64]uint64 // the first arrival that this rank has made, by phase
}

// newBarrierTrace is nil without a timeline.
func (rt *Runtime) newBarrierTrace() *barrierTrace {
	if rt.probe == nil {
		return nil
	}
	return &barrierTrace{p: rt.probe, began: make(map[uint64]uint64)}
}

// recordArrivals records arrivals that have been made.
func (t *barrierTrace) recordArrivals(c *barrierCell, phase uint64, count int64) {
	now := c.rt.clock.Now()
	t.p.addRecords(nil, trace.Record{
		Start: now, A: uint64(c.id) | uint64(barrier.Gen(phase)), B: uint64(count), Name: t.p.kinds[OperationArrive],
		Kind: trace.Instant,
	})
	if _, ok := t.began[phase]; !ok && phase > t.known {
		t.began[phase] = now
	}
}

// looks records phases that have triggered as far as this rank knows, and at which it has arrived.
func (t *barrierTrace) looks(c *barrierCell, k *cascade) {
	known := c.core.Known()
	if known == t.known {
		return
	}
	now := c.rt.clock.Now()
	for phase, began := range t.began {
		if phase > known {
			continue
		}
		delete(t.began, phase)
		t.p.addRecords(k.track(), trace.Record{
			Start: began, End: now, A: uint64(c.id) | uint64(barrier.Gen(phase)), B: phase, Name: t.p.phase,
			Kind: trace.Span,
		})
	}
	t.known = known
}

// phaseEnd makes the profile of an arrival wait for the end of its phase.
type phaseEnd struct {
	event.Waiter
	rt *Runtime
	w  *operationTrace
	x  OperationProfile
}

// arrivalProfile has the profile of an arrival delivered once its phase has triggered, or at once if it has failed.
func (c *barrierCell) arrivalProfile(k *cascade, w *operationTrace, phase uint64, err error) {
	rt := c.rt
	if w.sink == nil {
		rt.watches.Put(w)
		return
	}
	w.started = w.ready
	e := &phaseEnd{rt: rt, w: w}
	e.Op = e
	e.x = OperationProfile{
		Kind: OperationArrive, Finish: Event(c.id | event.ID(barrier.Gen(phase))), End: rt.now(),
	}
	if err != nil {
		e.reportEnd(rt.faultPoison(err))
		return
	}
	if st, why := rt.awaitEvent(event.ID(e.x.Finish), &e.Waiter); st != event.Pending {
		e.reportEnd(why)
	}
}

// Fire implements event.Op.
func (e *phaseEnd) Fire(w *event.Waiter, _ any) { e.reportEnd(w.Poison) }

func (e *phaseEnd) reportEnd(why *event.Poison) {
	e.w.fillProfile(&e.x, why)
	e.x.Complete = e.rt.now()
	e.rt.profile(e.w.sink, &e.x)
	e.rt.watches.Put(e.w)
}

// String says what waits.
func (e *phaseEnd) String() string { return "the profile of an arrival" }
