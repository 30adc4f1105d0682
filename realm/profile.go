package realm

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/observe"
)

// OperationKind says what an operation does.
type OperationKind uint8

// Kinds of operations.
const (
	OperationTask OperationKind = iota
	OperationCopy
	OperationGather
	OperationScatter
	OperationFill
	OperationDestroy  // of an instance
	OperationReduce   // the application of reductions to an instance
	OperationAcquire  // of a reservation
	OperationArrive   // at a phase of a barrier
	OperationInstance // the creation of an instance
)

// String names the kind.
func (k OperationKind) String() string { return observe.Kind(k).String() }

// Outcome is what became of an operation.
type Outcome uint8

// Outcomes.
const (
	Completed Outcome = iota // it has done what it is for
	Failed                   // a task returned an error, panicked or ended its thread; another operation had an error
	Skipped                  // it has not begun: its precondition was poisoned, or it was canceled
)

// String names the outcome.
func (o Outcome) String() string {
	return [...]string{"completed", "failed", "skipped"}[min(o, Skipped)]
}

// OperationProfile tells of one operation. Times are since the runtime was made of the rank that has done it, or begun
// it. Those that have not come are 0.
type OperationProfile struct {
	Kind    OperationKind
	Outcome Outcome
	// Finish is what the operation triggers: its event, the grant of an acquire, the phase of an arrival. It is NoEvent
	// for an instance, and for a reservation that was taken at once.
	Finish Event

	Task      string // the name a task is registered under; "function" for one of SpawnLocal
	Processor Processor
	Waits     int           // how often the task has waited for an event
	Waited    time.Duration // and for how long

	Source, Target InstanceID // of what moves data; an instance that is made or filled is the target
	From, To       Memory     // that they are in, as far as they are known
	Bytes          int64      // that were moved, or that an instance has or was to have

	Reservation uint64 // the number of its ReservationID

	Create   time.Duration // the call; for a task or transfer that another rank has asked for: the message has come
	Ready    time.Duration // its precondition had triggered
	Start    time.Duration // it began to run
	End      time.Duration // it was over; a task may have waited in between
	Complete time.Duration // its event had triggered
}

// Profiler gets the profiles of operations that have the option Profile.
type Profiler struct {
	rt *Runtime
	f  func([]OperationProfile)
	id uint32 // from 1
}

// profilers are those of this rank.
type profilers struct {
	mu  sync.Mutex                  // guards changes; nothing is taken under it
	own atomic.Pointer[[]*Profiler] // by number
}

// findProfiler is the profiler of this rank with that number, or nil.
func (ps *profilers) findProfiler(id uint64) *Profiler {
	if all := ps.own.Load(); id > 0 && all != nil && id <= uint64(len(*all)) {
		return (*all)[id-1]
	}
	return nil
}

// NewProfiler makes f get the profiles of operations, many at a time. Those of tasks come when a processor has nothing
// else to run, or 256 have gathered there; those of others when the utility processor comes to it. f runs in a task of
// this rank's utility processor, one call after the other for a processor. It must not keep the slice. If it panics,
// the job ends. A profiler lives as long as the runtime. NewProfiler does not block.
func (rt *Runtime) NewProfiler(f func(batch []OperationProfile)) *Profiler {
	if f == nil {
		f = func([]OperationProfile) {}
	}
	ps := &rt.profilers
	ps.mu.Lock()
	defer ps.mu.Unlock()
	var all []*Profiler
	if old := ps.own.Load(); old != nil {
		all = slices.Clip(*old)
	}
	p := &Profiler{rt: rt, f: f, id: uint32(len(all)) + 1}
	all = append(all, p)
	ps.own.Store(&all)
	rt.ev.Log.Profilers.Store(p.id)
	return p
}

// NewInstance is the function NewInstance on the profiler's rank. The profile tells what became of the allocation.
func (p *Profiler) NewInstance(m Memory, s Space, layout Layout, fields ...Field) (Instance, error) {
	if p == nil || p.rt == nil {
		return Instance{}, fmt.Errorf("realm: NewInstance: %w: a Profiler that was not created", ErrArgument)
	}
	rt := p.rt
	w := rt.ev.Log.Begin(observe.Instance, 0, observe.SinkOf(rt.ev.Self, p.id))
	w.Record[observe.To] = uint64(m)
	w.Record[observe.Ready], w.Record[observe.Start] = w.Record[observe.Create], w.Record[observe.Create]
	in, err := newInstance(s, layout, fields)
	if err == nil {
		if rt.storeOf(m) != nil {
			w.Record[observe.Bytes] = uint64(in.layout.Size()) // or would have had
		}
		err = rt.settleInstance(in, m)
	}
	if err == nil {
		w.Record[observe.Target] = uint64(in.id)
	}
	rt.ev.Log.NoteEnd(w, nil)
	rt.ev.Log.Complete(w, err != nil, nil)
	if err != nil {
		return Instance{}, rt.ev.CallErrorf("NewInstance", "%w", err)
	}
	return Instance{rt, in.id}, nil
}

// endOperation triggers the event of an operation that is over, unless that has been done, and frees w.
func (rt *Runtime) endOperation(k *events.Cascade, w *observe.Operation, why *event.Poison) {
	rt.ev.Log.NoteEnd(w, k.By)
	if !w.Told {
		k.Trigger(event.ID(w.Record[observe.Finish]), why)
	}
	rt.ev.Log.Complete(w, why != nil, nil)
}

// runLater has the utility processor run f.
func (rt *Runtime) runLater(f func()) {
	rt.utility.pushTask(rt.newInternal(func(*Ctx) error { f(); return nil }), nil)
}

// deliverProfiles runs the function of the profiler, or sends b to its rank.
func (rt *Runtime) deliverProfiles(b *observe.Batch) {
	if b.Sink.Rank() != rt.ev.Self {
		rt.sendProfiles(b)
		return
	}
	list := rt.told.Get()
	if list == nil {
		list = new([]OperationProfile)
	}
	for i := range b.List {
		*list = append(*list, rt.profileOf(&b.List[i]))
	}
	rt.profilers.findProfiler(uint64(b.Sink.ID())).f(*list)
	*list = (*list)[:0]
	rt.told.Put(list)
}

// profileOf is what a program is told of an operation.
func (rt *Runtime) profileOf(r *observe.Record) OperationProfile {
	at := func(word int) time.Duration { return time.Duration(r[word]) }
	kind, outcome, _ := r.Parse()
	x := OperationProfile{
		Kind: OperationKind(kind), Outcome: Outcome(outcome), Finish: Event(r[observe.Finish]),
		Processor: Processor(r[observe.Processor]), Waits: int(r[observe.Waits]), Waited: at(observe.Waited),
		Source: InstanceID(r[observe.Source]), Target: InstanceID(r[observe.Target]),
		From: Memory(r[observe.From]), To: Memory(r[observe.To]), Bytes: int64(r[observe.Bytes]),
		Reservation: r[observe.Reservation],
		Create:      at(observe.Create), Ready: at(observe.Ready), Start: at(observe.Start), End: at(observe.End),
		Complete: at(observe.Complete),
	}
	if kind == observe.Task {
		x.Task = localName
		if place := r.Place(); place < uint64(len(rt.catalog.defs)) {
			x.Task = rt.catalog.defs[place].name
		}
	}
	return x
}

// sendProfiles sends b to the rank that has asked for it.
func (rt *Runtime) sendProfiles(b *observe.Batch) {
	most := rt.ev.Endpoint.MaxMedium() / (8 * observe.Words)
	for list := range slices.Chunk(b.List, most) {
		payload, _ := binary.Append(nil, binary.LittleEndian, list) // nothing but words
		rt.ev.PostMessage(b.Sink.Rank(), events.HProfile, payload, uint64(b.Sink.ID()))
	}
}

// onProfile: another rank tells of operations that it has done for this one.
func (rt *Runtime) onProfile(t *am.Token, args []uint64, payload []byte) {
	list := make([]observe.Record, len(payload)/(8*observe.Words))
	n, err := binary.Decode(payload, binary.LittleEndian, list)
	wrong := func(r observe.Record) bool {
		kind, _, ok := r.Parse()
		return !ok || kind == observe.Task && r.Place() >= uint64(len(rt.catalog.defs))
	}
	if rt.profilers.findProfiler(args[0]) == nil || err != nil || n == 0 || n < len(payload) ||
		slices.ContainsFunc(list, wrong) {
		rt.ev.Malformed(t, "profiles for", event.ID(args[0]))
		return
	}
	b := &observe.Batch{Sink: observe.SinkOf(rt.ev.Self, uint32(args[0])), List: list}
	rt.ev.Later(func() { rt.deliverProfiles(b) })
}

// countInTimeline has the timeline show what there is of this rank.
func (rt *Runtime) countInTimeline() {
	if !rt.ev.Log.Drawn() {
		return
	}
	rt.ev.OfRank.Count("live events", func() (n int64) {
		rt.ev.Events.EachCell(func(c *events.Cell) {
			c.Lock.Lock()
			if _, alive := c.Slot.Alive(); alive {
				n++
			}
			c.Lock.Unlock()
		})
		return n
	})
	for kind := range memoryKinds {
		if m := rt.Memory(kind); rt.storeOf(m) != nil {
			rt.ev.OfRank.Count("bytes in "+m.String(), func() int64 {
				_, used := rt.MemoryUse(m)
				return used
			})
		}
	}
}
