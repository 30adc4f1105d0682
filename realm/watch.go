package realm

import (
	"sync/atomic"
	"time"

	"github.com/golci/golci/internal/observe/trace"
	"github.com/golci/golci/realm/internal/event"
)

// operationTrace is what is noted of an operation that somebody wants to know of. Its owner is the owner of the
// operation. Times are on the runtime's clock.
type operationTrace struct {
	sink    *Profiler // nil for the timeline alone
	created uint64
	ready   uint64
	started uint64        // of an operation that is no task
	split   bool          // the operation is done in several pieces, or partly by another rank
	told    bool          // another rank has had the event triggered
	after   bool          // a task has a precondition
	queue   *atomic.Int64 // of the processor that a task is ready for, while it is in its queue
	waits   int           // of a task
	waited  uint64        // likewise
	track   *trace.Track  // of the task that spawns a task, for the time of that call; nil if it is not known
}

// newWatch has an operation watched, for the timeline and, unless it is nil, for sink.
func (rt *Runtime) newWatch(sink *Profiler) *operationTrace {
	w := rt.watches.Get()
	if w == nil {
		w = new(operationTrace)
	}
	*w = operationTrace{sink: sink}
	if sink != nil {
		w.created = rt.clock.Now()
	}
	return w
}

// watchFor is newWatch, with the number of a profiler of rank src, if there is a reason; else nil.
func (rt *Runtime) watchFor(src int, profiler uint32) *operationTrace {
	switch {
	case profiler != 0 && src != rt.rank:
		return rt.newWatch(rt.remoteProfiler(src, profiler))
	case profiler != 0 || rt.probe != nil:
		return rt.newWatch(rt.profilers.findProfiler(uint64(profiler)))
	}
	return nil
}

// readied notes that an operation that triggers finish can begin. An arrow leads from there to its beginning.
func (k *cascade) readied(w *operationTrace, finish event.ID) {
	w.ready = k.rt.clock.Now()
	if p := k.rt.probe; p != nil {
		p.addRecords(k.track(), trace.Record{
			Start: w.ready, End: w.ready, A: uint64(finish), Flow: uint64(finish), Name: p.onData,
			Kind: trace.Slice | trace.FlowOut,
		})
	}
}

// piece is a part of an operation that is being done.
type piece struct {
	start uint64
	first bool
}

// starts begins a piece of an operation.
func (k *cascade) starts(w *operationTrace) piece {
	x := piece{k.rt.clock.Now(), w.started == 0}
	if x.first {
		w.started = x.start
	}
	return x
}

// worked records a piece that is over. The operation may be over, too. The arrow ends at its first piece.
func (k *cascade) worked(x piece, kind OperationKind, finish event.ID, peer int, bytes int64) {
	p := k.rt.probe
	if p == nil {
		return
	}
	e := trace.Record{
		Start: x.start, End: k.rt.clock.Now(), A: uint64(peer), B: uint64(bytes), Flow: uint64(finish),
		Name: p.kinds[kind], Kind: trace.Slice,
	}
	if x.first {
		e.Kind |= trace.FlowIn
	}
	p.workSlice(k.track(), e)
}

// endOperation triggers finish, the event of an operation that is over, unless that has been done, and frees its watch.
// x has what the profile is to say beside outcome and times.
func (k *cascade) endOperation(w *operationTrace, finish event.ID, x *OperationProfile, why *event.Poison) {
	rt := k.rt
	end := rt.clock.Now()
	if p := rt.probe; p != nil && w.split && w.started != 0 {
		p.workSlice(k.track(), trace.Record{
			Start: w.ready, End: end, A: uint64(x.peer(rt.rank)), B: uint64(x.Bytes), Flow: uint64(finish),
			Name: p.whole[x.Kind], Kind: trace.Span,
		})
	}
	if !w.told {
		k.trigger(finish, why)
	}
	if w.sink != nil {
		x.Finish = Event(finish)
		w.fillProfile(x, why)
		x.End, x.Complete = time.Duration(end), rt.now()
		rt.profile(w.sink, x)
	}
	rt.watches.Put(w)
}

// fillProfile puts outcome and times into x.
func (w *operationTrace) fillProfile(x *OperationProfile, why *event.Poison) {
	x.Create, x.Ready, x.Start = time.Duration(w.created), time.Duration(w.ready), time.Duration(w.started)
	switch {
	case why == nil:
	case w.ready == 0:
		x.Outcome = Skipped
	default:
		x.Outcome = Failed
	}
}

// peer is the rank other than self that a transfer concerns, or self.
func (x *OperationProfile) peer(self int) int {
	if x.Target != 0 && x.Target.Rank() != self {
		return x.Target.Rank()
	}
	return self
}

// begun is when this rank begins what another one has asked for; 0 if nobody wants to know.
func (rt *Runtime) begun() uint64 {
	if rt.probe == nil {
		return 0
	}
	return rt.clock.Now()
}

// served records a part of an operation of rank src. A slice is the caller's work; a span may overlap others.
func (rt *Runtime) served(start uint64, op OperationKind, kind trace.Kind, src int, bytes int64) {
	p := rt.probe
	if p == nil {
		return
	}
	e := trace.Record{
		Start: start, End: rt.clock.Now(), A: uint64(src), B: uint64(bytes), Name: p.arrived[op], Kind: kind,
	}
	if kind == trace.Span {
		p.addRecords(nil, e)
	} else {
		p.workSlice(nil, e)
	}
}
