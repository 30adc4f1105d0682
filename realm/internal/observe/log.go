// Package observe notes what becomes of operations. One that somebody wants to know of has an Operation, and comes to
// one moment after the other. A Log takes these moments, and has two readers: the timeline draws each as it comes, and
// a profiler gets the record of all once the operation is over.
package observe

import (
	"sync"
	"sync/atomic"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/trace"
	"github.com/golci/golci/internal/request"
	"github.com/golci/golci/rank"
)

// Config is what a Log has to know of its runtime.
type Config struct {
	Rank    *rank.Rank
	Tasks   []string                  // names, by place
	NameOf  func(executor any) string // of what runs tasks, for people
	Later   func(f func())            // runs f soon, where it may call a program's code
	Deliver func(b *Batch)            // gives b to the profiler, in Later. It keeps nothing of b
}

// Log takes the moments of the operations of a rank. Init makes it.
type Log struct {
	Clock     trace.Clock   // of the timeline, if there is one
	Profilers atomic.Uint32 // how many profilers this rank has

	cfg     Config
	line    *timeline // nil without
	free    request.Pool[Operation]
	batches request.Pool[Batch]

	mu       sync.Mutex // guards gathered; nothing is taken under it
	gathered []*Batch   // if there are any, Later has been called to deliver them
}

// Init begins the log.
func (g *Log) Init(cfg Config) {
	g.cfg = cfg
	g.Clock = trace.NewClock()
	if rec := cfg.Rank.Trace(); rec != nil {
		g.Clock = rec.Clock()
		g.line = newTimeline(cfg)
	}
}

// Drawn tells whether there is a timeline. If there is none, only operations with a profiler are noted.
func (g *Log) Drawn() bool { return g.line != nil }

// Operation is what is known of an operation. Its owner is the owner of the operation.
type Operation struct {
	Record
	Sink  Sink
	By    *fult.Worker // that spawns a task, for the time of that call; nil if it is not known
	After bool         // a task has a precondition
	Split bool         // the operation is done in several pieces, or partly by another rank
	Told  bool         // another rank has had the event triggered
	Peer  int          // the rank that a transfer concerns, or that a reservation came from

	since uint64 // when a task began or went on; when it paused, while it waits
	queue *queue // that a task is in
}

// Begin begins to note an operation that triggers finish, for the timeline and, unless it is 0, for sink.
func (g *Log) Begin(kind Kind, finish uint64, sink Sink) *Operation {
	w := g.free.Get()
	if w == nil {
		w = new(Operation)
	}
	*w = Operation{Sink: sink}
	w.Record[Finish], w.Record[What] = finish, uint64(kind)
	if sink != 0 {
		w.Record[Create] = g.Clock.Now()
	}
	return w
}

// BeginFor is Begin, with the number of a profiler of rank src, if there is a reason; else it is nil.
func (g *Log) BeginFor(kind Kind, finish uint64, src int, profiler uint32) *Operation {
	switch {
	case profiler != 0 && (src != g.cfg.Rank.Rank() || profiler <= g.Profilers.Load()):
		return g.Begin(kind, finish, SinkOf(src, profiler))
	case profiler != 0 || g.line != nil:
		return g.Begin(kind, finish, 0)
	}
	return nil
}

// noteMoment notes that w has come to a moment from Create on, which the timeline does not show.
func (g *Log) noteMoment(w *Operation, moment int) { w.Record[moment] = g.Clock.Now() }

// NoteSpawn notes that a task is being spawned, to begin after an event unless that is 0. Of several the first stands
// for all. An arrow leads from there to where the task is ready.
func (g *Log) NoteSpawn(w *Operation, after uint64) {
	if w.After = after != 0; w.After && g.line != nil {
		g.line.spawned(w, g.Clock.Now(), after)
	}
}

// NoteReady notes that w can begin, on the worker on if that is known. An arrow leads from there to its beginning. A
// task is in the queue of executor from then on.
func (g *Log) NoteReady(w *Operation, on *fult.Worker, executor any) {
	g.noteMoment(w, Ready)
	if g.line != nil {
		g.line.readied(w, on, executor)
	}
}

// NoteStart notes that a task runs.
func (g *Log) NoteStart(w *Operation) {
	g.noteMoment(w, Start)
	w.since = w.Record[Start]
	w.leaveQueue()
}

// NotePause notes that a task waits.
func (g *Log) NotePause(w *Operation, on *fult.Worker) {
	now := g.Clock.Now()
	if g.line != nil {
		g.line.ran(w, now, on)
	}
	w.since = now
}

// NoteResume notes that a task goes on which has waited for an event.
func (g *Log) NoteResume(w *Operation, on *fult.Worker, of uint64) {
	now := g.Clock.Now()
	w.Record[Waits]++
	w.Record[Waited] += now - w.since
	if g.line != nil {
		g.line.waited(w, now, on, of)
	}
	w.since = now
}

// Piece is a part of an operation, other than a task, that is being done.
type Piece struct {
	start, finish uint64
	kind          Kind
	first         bool
}

// BeginPiece begins a piece of an operation.
func (g *Log) BeginPiece(w *Operation) Piece {
	x := Piece{g.Clock.Now(), w.Record[Finish], w.kind(), w.Record[Start] == 0}
	if x.first {
		w.Record[Start] = x.start
	}
	return x
}

// EndPiece notes a piece that is over. The operation may be over, too.
func (g *Log) EndPiece(x Piece, on *fult.Worker, peer int, bytes int64) {
	if g.line != nil {
		g.line.worked(x, g.Clock.Now(), on, peer, bytes)
	}
}

// NoteEnd notes that w is over; its event has yet to trigger. What is taken at once begins when it is ready.
func (g *Log) NoteEnd(w *Operation, on *fult.Worker) {
	g.noteMoment(w, End)
	if k := w.kind(); k == Acquire || k == Arrive {
		w.Record[Start] = w.Record[Ready]
	}
	if g.line != nil {
		g.line.ended(w, on)
	}
}

// NoteSkipped ends w for a task that does not run.
func (g *Log) NoteSkipped(w *Operation) {
	w.leaveQueue()
	w.setOutcome(Skipped)
	g.Complete(w, false, nil)
}

// Complete notes that the event of w has triggered, poisoned if failed, and frees w. Its record goes to the batch of
// the caller, or to one that all share if own is nil. It neither blocks nor runs a program's code.
func (g *Log) Complete(w *Operation, failed bool, own **Batch) {
	if w.Sink != 0 {
		g.noteMoment(w, Complete)
		switch {
		case !failed:
		case w.Record[Ready] == 0:
			w.setOutcome(Skipped)
		default:
			w.setOutcome(Failed)
		}
		if own != nil {
			g.put(w, own)
		} else {
			g.gather(w)
		}
	}
	g.free.Put(w)
}

// Drop frees w, of which nobody is to be told.
func (g *Log) Drop(w *Operation) { g.free.Put(w) }

// NoteServed notes a part of an operation of rank src, which this rank has done since start. A slice is the caller's
// work; a span may overlap others.
func (g *Log) NoteServed(start uint64, k Kind, as trace.Kind, src int, bytes int64) {
	if g.line != nil {
		g.line.served(start, g.Clock.Now(), k, as, src, bytes)
	}
}

// NoteSlept notes that a goroutine, or a thread that is no task, has waited for an event since start.
func (g *Log) NoteSlept(start, of uint64) {
	if g.line != nil {
		g.line.slept(start, g.Clock.Now(), of)
	}
}

// Since is the start for NoteServed or NoteSlept; 0 without a timeline.
func (g *Log) Since() uint64 {
	if g.line == nil {
		return 0
	}
	return g.Clock.Now()
}
