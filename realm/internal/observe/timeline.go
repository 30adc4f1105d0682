package observe

import (
	"sync"
	"sync/atomic"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/trace"
	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm/internal/barrier"
	"github.com/golci/golci/realm/internal/event"
)

// timeline draws what a log takes on the timeline of a rank.
type timeline struct {
	r              *rank.Rank
	nameOf         func(executor any) string
	tasks          []trace.Name // by place
	function, wait trace.Name
	ready, onData  trace.Name // tasks, and other operations, can begin
	spawn, sleep   trace.Name
	pieces, whole  [Kinds]trace.Name // of operations other than tasks, and all of them
	serve          [Kinds]trace.Name // what is done for such operations of other ranks
	hold, phase    trace.Name
	queues         sync.Map // of *queue, by executor
}

// Function stands for the name of a task that has none.
const Function = "function"

func newTimeline(cfg Config) *timeline {
	name := func(text, category string, args ...string) trace.Name {
		l := trace.Label{Text: text, Category: category}
		copy(l.Args[:], args)
		return cfg.Rank.Trace().Name(l)
	}
	p := &timeline{
		r: cfg.Rank, nameOf: cfg.NameOf,
		function: name(Function, "task", "finish"),
		wait:     name("wait", "wait", "finish", "event"),
		sleep:    name("call waits", "wait", "event"),
		ready:    name("ready", "task", "finish"),
		spawn:    name("spawn", "spawn", "finish", "after"),
		onData:   name("ready", "operation", "finish"),
		hold:     name("hold", "reservation", "reservation", "from"),
		phase:    name("phase", "barrier", "barrier", "phase"),
	}
	for _, text := range cfg.Tasks {
		p.tasks = append(p.tasks, name(text, "task", "finish"))
	}
	for k := range Kinds {
		p.pieces[k] = name(k.String(), "operation", "peer", "bytes", "finish")
		p.whole[k] = name(k.String(), "whole", "peer", "bytes", "finish")
		p.serve[k] = name(k.String()+" for", "operation", "peer", "bytes")
	}
	p.whole[Acquire] = name("acquire", "reservation", "reservation", "from", "grant")
	p.pieces[Arrive] = name("arrive", "barrier", "barrier", "count")
	return p
}

// add draws on the track of a worker, whose thread calls, or on whatever track the caller has. Arrows that stand alone
// come after their slice, in one call.
func (p *timeline) add(on *fult.Worker, all ...trace.Record) {
	l := p.trackOf(on)
	if l == nil {
		var shared bool
		if l, shared = p.r.CallerTrack(); shared {
			l.AddShared(all...)
			return
		}
	}
	for i := range all {
		l.Add(all[i])
	}
}

// trackOf is the track of a worker; nil if there is none.
func (p *timeline) trackOf(on *fult.Worker) *trace.Track {
	if on == nil {
		return nil
	}
	return p.r.WorkerTrack(on.ID())
}

// addWork draws a slice. On a track that goroutines share, where slices may overlap, it is a span.
func (p *timeline) addWork(on *fult.Worker, e trace.Record) {
	if p.trackOf(on) == nil {
		if _, shared := p.r.CallerTrack(); shared {
			e.Kind = trace.Span
		}
	}
	p.add(on, e)
}

func (p *timeline) spawned(w *Operation, now, after uint64) {
	finish := w.Record[Finish]
	p.add(w.By, trace.Record{
		Start: now, End: now, A: finish, B: after, Flow: finish, Name: p.spawn, Kind: trace.Slice | trace.FlowOut,
	})
}

func (p *timeline) readied(w *Operation, on *fult.Worker, executor any) {
	now, finish, name := w.Record[Ready], w.Record[Finish], p.onData
	switch w.kind() {
	case Acquire, Arrive:
		return
	case Task:
		name = p.ready
	}
	all := [...]trace.Record{
		{Start: now, End: now, A: finish, Flow: finish, Name: name, Kind: trace.Slice | trace.FlowOut},
		{Start: now, Flow: finish, Name: p.spawn, Kind: trace.FlowIn},
	}
	if w.After {
		p.add(on, all[:]...)
	} else {
		p.add(on, all[0])
	}
	if executor != nil {
		w.queue = p.queueOf(executor)
		w.queue.Add(1)
	}
}

// ran draws that a task has run since it started or went on. The arrow ends in its first slice. Tasks on goroutines
// overlap, and are spans.
func (p *timeline) ran(w *Operation, end uint64, on *fult.Worker) {
	e := trace.Record{Start: w.since, End: end, A: w.Record[Finish], Name: p.function, Kind: trace.Slice}
	if at := w.Place(); at < uint64(len(p.tasks)) {
		e.Name = p.tasks[at]
	}
	if p.trackOf(on) == nil {
		e.Kind = trace.Span
	} else if w.since == w.Record[Start] {
		e.Flow = w.Record[Finish]
		e.Kind |= trace.FlowIn
	}
	p.add(on, e)
}

func (p *timeline) waited(w *Operation, now uint64, on *fult.Worker, of uint64) {
	p.add(on, trace.Record{
		Start: w.since, End: now, A: w.Record[Finish], B: of, Name: p.wait, Kind: trace.Span,
	})
}

// worked draws a piece. The arrow ends at the first.
func (p *timeline) worked(x Piece, now uint64, on *fult.Worker, peer int, bytes int64) {
	e := trace.Record{
		Start: x.start, End: now, A: uint64(peer), B: uint64(bytes), Flow: x.finish, Name: p.pieces[x.kind],
		Kind: trace.Slice,
	}
	if x.first {
		e.Kind |= trace.FlowIn
	}
	p.addWork(on, e)
}

func (p *timeline) ended(w *Operation, on *fult.Worker) {
	e := trace.Record{
		Start: w.Record[Ready], End: w.Record[End], A: uint64(w.Peer), B: w.Record[Bytes], Flow: w.Record[Finish],
		Name: p.whole[w.kind()], Kind: trace.Span,
	}
	switch k := w.kind(); {
	case k == Task:
		p.ran(w, w.Record[End], on)
	case k == Acquire && w.Record[Ready] != 0 && e.Flow != 0:
		e.A, e.B = w.Record[Reservation], uint64(w.Peer)
		p.add(nil, e)
	case k != Acquire && k != Arrive && w.Split && w.Record[Start] != 0:
		p.addWork(on, e)
	}
}

func (p *timeline) served(start, now uint64, k Kind, as trace.Kind, src int, bytes int64) {
	e := trace.Record{Start: start, End: now, A: uint64(src), B: uint64(bytes), Name: p.serve[k], Kind: as}
	if as == trace.Span {
		p.add(nil, e)
	} else {
		p.addWork(nil, e)
	}
}

func (p *timeline) slept(start, now, of uint64) {
	p.add(nil, trace.Record{Start: start, End: now, A: of, Name: p.sleep, Kind: trace.Span})
}

// queue counts the tasks that are ready for an executor.
type queue struct{ atomic.Int64 }

func (p *timeline) queueOf(executor any) *queue {
	if n, ok := p.queues.Load(executor); ok {
		return n.(*queue)
	}
	n, known := p.queues.LoadOrStore(executor, new(queue))
	if !known {
		p.r.Count("ready for "+p.nameOf(executor), n.(*queue).Load)
	}
	return n.(*queue)
}

// leaveQueue notes that a task is in no queue any more.
func (w *Operation) leaveQueue() {
	if w.queue != nil {
		w.queue.Add(-1)
		w.queue = nil
	}
}

// Phases draws a barrier. The lock of the barrier guards it.
type Phases struct {
	g     *Log
	id    event.ID          // without its generation
	known uint64            // the last phase that this rank knows to have triggered
	began map[uint64]uint64 // the first arrival that this rank has made, by phase
}

// DrawPhases is for a barrier; nil without a timeline.
func (g *Log) DrawPhases(id event.ID) *Phases {
	if g.line == nil {
		return nil
	}
	return &Phases{g: g, id: id, began: make(map[uint64]uint64)}
}

// NoteArrivals notes arrivals that have been made.
func (x *Phases) NoteArrivals(phase uint64, count int64) {
	now := x.g.Clock.Now()
	x.g.line.add(nil, trace.Record{
		Start: now, A: uint64(x.id) | uint64(barrier.Gen(phase)), B: uint64(count), Name: x.g.line.pieces[Arrive],
		Kind: trace.Instant,
	})
	if _, ok := x.began[phase]; !ok && phase > x.known {
		x.began[phase] = now
	}
}

// NoteKnown notes that phases up to one have triggered as far as this rank knows.
func (x *Phases) NoteKnown(known uint64, on *fult.Worker) {
	if known == x.known {
		return
	}
	now := x.g.Clock.Now()
	for phase, began := range x.began {
		if phase > known {
			continue
		}
		delete(x.began, phase)
		x.g.line.add(on, trace.Record{
			Start: began, End: now, A: uint64(x.id) | uint64(barrier.Gen(phase)), B: phase, Name: x.g.line.phase,
			Kind: trace.Span,
		})
	}
	x.known = known
}

// Holds draws a reservation. The lock of the reservation guards it.
type Holds struct {
	From int // the rank that has sent the reservation, or the latest grant

	g     *Log
	id    event.ID
	since uint64 // when the hold of this rank began; 0: there is none
}

// DrawHolds is for a reservation; nil without a timeline.
func (g *Log) DrawHolds(id event.ID) *Holds {
	if g.line == nil {
		return nil
	}
	return &Holds{From: id.Rank(), g: g, id: id}
}

// NoteHold notes whether this rank holds the reservation. granted: others hold it now than before.
func (x *Holds) NoteHold(held, granted bool) {
	if x.since != 0 && (granted || !held) {
		x.g.line.add(nil, trace.Record{
			Start: x.since, End: x.g.Clock.Now(), A: uint64(x.id), B: uint64(x.From), Name: x.g.line.hold,
			Kind: trace.Span,
		})
		x.since = 0
	}
	if held && x.since == 0 {
		x.since = x.g.Clock.Now()
	}
}
