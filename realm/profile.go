package realm

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golci/golci/internal/observe/trace"
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
	operationKinds
)

// String names the kind.
func (k OperationKind) String() string {
	return [...]string{
		"task", "copy", "gather", "scatter", "fill", "destroy", "reduce", "acquire", "arrive", "instance",
	}[min(k, operationKinds-1)]
}

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
	rt   *Runtime
	f    func([]OperationProfile) // nil for one of another rank
	rank int
	id   uint32 // from 1
}

// profilers are those of this rank, and those of others that it has been asked for.
type profilers struct {
	own atomic.Pointer[[]*Profiler] // by number; changed under mu

	mu       sync.Mutex           // guards what follows; nothing is taken under it
	far      map[uint64]*Profiler // by rank and number
	gathered []*batch             // if there are any, a task of the utility processor is about to deliver them
}

// findProfiler is the profiler of this rank with that number, or nil.
func (ps *profilers) findProfiler(id uint64) *Profiler {
	if all := ps.own.Load(); id > 0 && all != nil && id <= uint64(len(*all)) {
		return (*all)[id-1]
	}
	return nil
}

// NewProfiler has f get the profiles of operations, many at a time. Those of tasks come when a processor has nothing
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
	p := &Profiler{rt: rt, f: f, rank: rt.rank, id: uint32(len(all)) + 1}
	all = append(all, p)
	ps.own.Store(&all)
	return p
}

// NewInstance is the function NewInstance on the profiler's rank. The profile tells what became of the allocation.
func (p *Profiler) NewInstance(m Memory, s Space, layout Layout, fields ...Field) (Instance, error) {
	if p == nil || p.rt == nil {
		return Instance{}, fmt.Errorf("realm: NewInstance: %w: a Profiler that was not created", ErrArgument)
	}
	rt := p.rt
	x := OperationProfile{Kind: OperationInstance, To: m, Create: rt.now()}
	x.Ready, x.Start = x.Create, x.Create
	in, err := newInstance(s, layout, fields)
	if err == nil {
		if rt.storeOf(m) != nil {
			x.Bytes = in.layout.Size() // or would have had
		}
		err = rt.settleInstance(in, m)
	}
	if err == nil {
		x.Target = in.id
	} else {
		x.Outcome = Failed
	}
	x.End = rt.now()
	x.Complete = x.End
	rt.profile(p, &x)
	if err != nil {
		return Instance{}, rt.callErrorf("NewInstance", "%w", err)
	}
	return Instance{rt, in.id}, nil
}

// remoteProfiler stands for the profiler with that number of another rank.
func (rt *Runtime) remoteProfiler(rank int, id uint32) *Profiler {
	ps := &rt.profilers
	key := uint64(rank)<<32 | uint64(id)
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p := ps.far[key]
	if p == nil {
		p = &Profiler{rt: rt, rank: rank, id: id}
		if ps.far == nil {
			ps.far = make(map[uint64]*Profiler)
		}
		ps.far[key] = p
	}
	return p
}

const batchProfiles = 256

// batch is profiles for one profiler on their way. Times are those of the runtime's clock until they are delivered.
type batch struct {
	sink *Profiler
	list []OperationProfile
}

// takes tells whether b, which may be nil, has room for a profile for sink.
func (b *batch) takes(sink *Profiler) bool {
	return b != nil && b.sink == sink && len(b.list) < batchProfiles
}

// newBatch is an empty batch.
func (rt *Runtime) newBatch(sink *Profiler) *batch {
	b := rt.batches.Get()
	if b == nil {
		b = &batch{list: make([]OperationProfile, 0, batchProfiles)}
	}
	b.sink = sink
	return b
}

// profile has sink get x. Profiles gather until the utility processor comes to them. It neither blocks nor runs the
// program's code.
func (rt *Runtime) profile(sink *Profiler, x *OperationProfile) {
	ps := &rt.profilers
	ps.mu.Lock()
	n := len(ps.gathered)
	if n == 0 || !ps.gathered[n-1].takes(sink) {
		ps.gathered = append(ps.gathered, rt.newBatch(sink))
	}
	b := ps.gathered[len(ps.gathered)-1]
	b.list = append(b.list, *x)
	ps.mu.Unlock()
	if n > 0 {
		return
	}
	rt.utility.pushTask(rt.newInternal(func(*Ctx) error {
		ps.mu.Lock()
		all := ps.gathered
		ps.gathered = nil
		ps.mu.Unlock()
		for _, b := range all {
			rt.handOver(b)
		}
		return nil
	}), nil)
}

// handOver runs the function of the profiler, or sends b to its rank. It frees b.
func (rt *Runtime) handOver(b *batch) {
	b.convert(&rt.clock)
	if b.sink.f != nil {
		b.sink.f(b.list)
	} else {
		rt.sendProfiles(b)
	}
	b.list = b.list[:0]
	rt.batches.Put(b)
}

// now is the time for a profile that has not been delivered.
func (rt *Runtime) now() time.Duration { return time.Duration(rt.clock.Now()) }

// convert makes times since the runtime was made of those of its clock. Those that have not come stay 0.
func (b *batch) convert(c *trace.Clock) {
	scale := c.Scale()
	for i := range b.list {
		x := &b.list[i]
		if x.Waits > 0 {
			x.Waited = scale(uint64(x.Start+x.Waited)) - scale(uint64(x.Start))
		}
		for _, at := range [...]*time.Duration{&x.Create, &x.Ready, &x.Start, &x.End, &x.Complete} {
			if *at != 0 {
				*at = scale(uint64(*at))
			}
		}
	}
}
