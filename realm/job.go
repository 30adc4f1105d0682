package realm

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/fault"
	"github.com/golci/golci/realm/internal/observe"
	"github.com/golci/golci/realm/internal/space"
)

// jobKind says what a job does.
type jobKind uint8

const (
	jobCopy jobKind = iota
	jobGather
	jobScatter
	jobFill
	jobDestroy
	jobCreate
)

// job is an operation on instances. It is done by the rank that has the source, or the only instance. It belongs to its
// precondition, then to whoever runs it.
type job struct {
	event.Waiter
	rt     *Runtime
	finish event.ID
	after  event.ID
	ignore bool
	called bool // it begins in the call, not in a poll
	kind   jobKind
	dst    InstanceID
	src    InstanceID
	whole  bool        // all points that both have
	points space.Space // else
	pairs  []Pair      // none: each field to the one of its number. For a fill the field is the first destination
	Indirection
	value []byte // of a fill; of a creation what create reads

	from, to *instance // of this rank
	layout   *space.Layout
	off      int64 // of the destination in the registered memory of another rank; -1: it is elsewhere
	plan     *space.Plan
	cursor   *space.Cursor
	filling  *space.Filling
	done     int64 // bytes
	watch    *observe.Operation
}

// startJob has the rank of the instance by do j. It does not block.
func startJob(at Site, j *job, by InstanceID, opts []Option) Event {
	rt, _ := at.site()
	terms := rt.precondition(opts)
	if err := rt.ev.EndedError(); err != nil {
		return rt.failedEvent(err)
	}
	if !by.valid() || by.Rank() >= rt.ev.Size || !j.dst.valid() || j.dst.Rank() >= rt.ev.Size {
		return rt.failedEvent(rt.ev.CallErrorf("call", "%w: there is no %v or no %v in this job of %d ranks", ErrArgument,
			by, j.dst, rt.ev.Size))
	}
	if err := j.checkTravel(); err != nil {
		return rt.failedEvent(rt.ev.CallErrorf("call", "%w: %w", ErrArgument, err))
	}
	if j.by != 0 && (!j.by.valid() || j.by.Rank() >= rt.ev.Size) {
		return rt.failedEvent(rt.ev.CallErrorf("call", "%w: there is no %v in this job of %d ranks", ErrArgument, j.by,
			rt.ev.Size))
	}
	j.rt, j.after, j.ignore = rt, event.ID(terms.after), terms.ignore
	k := rt.ev.BeginCascade(nil)
	defer k.EndCascade(events.CallBudget)
	if by.Rank() == rt.ev.Self {
		j.Op, j.called = j, j.after == 0
		j.finish = rt.ev.NewEventAfter(j.after, &j.Waiter)
		j.watch = rt.ev.Log.BeginFor(j.kind.operation(), uint64(j.finish), rt.ev.Self, uint32(terms.profiler))
		e := Event(j.finish)
		j.awaitStart(k)
		return e
	}
	j.delegate(k, by.Rank(), uint32(terms.profiler))
	return Event(j.finish)
}

// delegate has another rank do j, and makes its finish event. profiler is a number of this rank; 0: none.
func (j *job) delegate(k *events.Cascade, rank int, profiler uint32) {
	j.finish = j.rt.ev.NewEventBy(rank)
	after := j.after
	if j.ignore {
		after = 0
	}
	j.rt.ev.Events.Precede(j.finish, after)
	b := j.encode(profiler)
	if err := j.rt.ev.FitsParcel("call", rank, len(b)); err != nil {
		k.Trigger(j.finish, j.rt.ev.FaultPoison(err))
		return
	}
	j.rt.ev.SendParcel(k, rank, events.ParcelJob, 0, b)
	if j.rt.ev.Endpoint.Gone(rank) { // set before the events of that rank are looked through
		k.Trigger(j.finish, j.rt.poisonBefore(j.rt.ev.DeathOf(rank), after))
	}
}

// precondition reads options. All events to wait for become one.
func (rt *Runtime) precondition(opts []Option) opOptions {
	x, several := rt.termsOf(opts)
	x.after = rt.both(x.after, several, x.ignore)
	return x
}

// checkTravel finds what cannot travel.
func (j *job) checkTravel() error {
	if len(j.pairs) > space.MaxFields {
		return fmt.Errorf("%d pairs of fields, the limit is %d", len(j.pairs), space.MaxFields)
	}
	for _, p := range j.pairs {
		if p.Dst < 0 || p.Src < 0 || p.Dst > space.MaxFields || p.Src > space.MaxFields {
			return fmt.Errorf("fields %d and %d", p.Dst, p.Src)
		}
	}
	if j.field < 0 || j.field >= space.MaxFields {
		return fmt.Errorf("field %d of an indirection", j.field)
	}
	return j.points.Err()
}

// awaitStart has j begin once its precondition has triggered.
func (j *job) awaitStart(k *events.Cascade) {
	j.Op = j
	if j.after == 0 {
		j.beginJob(k)
		return
	}
	j.rt.ev.Arrives(j.finish, events.WaitsFor{Of: j.after, By: &j.Waiter})
	st, why := j.rt.ev.AwaitEvent(j.after, &j.Waiter)
	if st != event.Pending {
		j.rt.ev.Departs(j.finish)
	}
	switch st {
	case event.Unknown:
		j.endJob(k, j.rt.unknown("call", Event(j.after)))
	case event.Triggered:
		j.triggered(k, why)
	}
}

// Fire implements event.Op.
func (j *job) Fire(w *event.Waiter, by any) {
	j.rt.ev.Departs(j.finish)
	j.triggered(by.(*events.Cascade), w.Poison)
}

func (j *job) triggered(k *events.Cascade, why *event.Poison) {
	if why != nil && !j.ignore {
		j.finishJob(k, why)
		return
	}
	j.beginJob(k)
}

// endJob triggers the finish event, poisoned if there is an error.
func (j *job) endJob(k *events.Cascade, err error) {
	var why *event.Poison
	if err != nil {
		why = j.rt.ev.FaultPoison(fmt.Errorf("%v: %w", j, err))
	}
	j.finishJob(k, why)
}

// String names j and its instances.
func (j *job) String() string {
	if j.src == 0 || j.src == j.dst {
		return fmt.Sprintf("%v of %v", j.kind, j.dst)
	}
	return fmt.Sprintf("%v from %v to %v", j.kind, j.src, j.dst)
}

// finishJob triggers the finish event.
func (j *job) finishJob(k *events.Cascade, why *event.Poison) {
	if j.watch == nil {
		k.Trigger(j.finish, why)
		return
	}
	w, from, to := j.watch, j.from.memory(), j.to.memory()
	if j.to == nil && j.layout != nil { // it is on another rank
		to = makeMemory(j.dst.Rank(), System)
		if j.off >= 0 {
			to = makeMemory(j.dst.Rank(), Registered)
		}
	}
	if j.kind != jobFill && j.kind != jobDestroy {
		w.Record[observe.Source] = uint64(j.src)
	}
	w.Record[observe.Target], w.Record[observe.Bytes] = uint64(j.dst), uint64(j.done)
	w.Record[observe.From], w.Record[observe.To] = uint64(from), uint64(to)
	w.Peer = j.dst.Rank()
	j.rt.endOperation(k, w, why)
}

// operation is the kind for a profile.
func (k jobKind) operation() observe.Kind {
	return [...]observe.Kind{
		observe.Copy, observe.Gather, observe.Scatter, observe.Fill, observe.Destroy, observe.Instance,
	}[k]
}

// String names the kind.
func (k jobKind) String() string {
	return [...]string{"copy", "gather", "scatter", "fill", "destruction", "creation"}[k]
}

// callOf is the function of the program that asks for such a job.
func (k jobKind) callOf() string {
	return [...]string{"Copy", "Gather", "Scatter", "Fill", "Destroy", "CreateInstance"}[k]
}

// flags of an encoded job.
const (
	flagIgnore = 1 << iota
	flagWhole
	flagProfile // the number of a profiler is at the end
)

// encode is j as it travels. profiler is a number of this rank; 0: none.
func (j *job) encode(profiler uint32) []byte {
	var flags byte
	if profiler != 0 {
		flags |= flagProfile
	}
	if j.ignore {
		flags |= flagIgnore
	}
	if j.whole {
		flags |= flagWhole
	}
	b := []byte{byte(j.kind), flags}
	for _, v := range []uint64{uint64(j.finish), uint64(j.after), uint64(j.dst), uint64(j.src), uint64(j.by)} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	b = binary.AppendUvarint(b, uint64(len(j.pairs)))
	for _, p := range j.pairs {
		b = binary.AppendUvarint(b, uint64(p.Dst))
		b = binary.AppendUvarint(b, uint64(p.Src))
	}
	b = binary.AppendUvarint(b, uint64(j.field))
	b = appendList(b, j.list)
	b = binary.AppendUvarint(b, uint64(len(j.value)))
	b = append(b, j.value...)
	b = space.AppendSpace(b, j.points)
	if profiler != 0 {
		b = binary.AppendUvarint(b, uint64(profiler))
	}
	return b
}

// onJob: another rank has this one do a job.
func (rt *Runtime) onJob(k *events.Cascade, src int, _ uint64, b []byte) error {
	r := wire{b: b}
	j := &job{rt: rt, kind: jobKind(r.nextBytes(1)[0])}
	flags := r.nextBytes(1)[0]
	j.ignore, j.whole = flags&flagIgnore != 0, flags&flagWhole != 0
	j.finish, j.after = event.ID(r.u64()), event.ID(r.u64())
	j.dst, j.src, j.by = InstanceID(r.u64()), InstanceID(r.u64()), InstanceID(r.u64())
	for range r.readCount(space.MaxFields) {
		j.pairs = append(j.pairs, Pair{Dst: r.readCount(space.MaxFields), Src: r.readCount(space.MaxFields)})
	}
	j.field, j.list = r.readCount(space.MaxFields), r.readList()
	j.value = append([]byte(nil), r.nextBytes(r.readCount(math.MaxInt32))...)
	j.points = r.space()
	profiler := 0
	if flags&flagProfile != 0 {
		profiler = r.readCount(math.MaxUint32)
	}
	if r.bad || !j.possible() {
		return fault.ErrMalformed
	}
	j.watch = rt.ev.Log.BeginFor(j.kind.operation(), uint64(j.finish), src, uint32(profiler))
	j.awaitStart(k)
	return nil
}

// appendText appends what wire.readCount and wire.nextBytes read.
func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// possible tells whether another rank may have sent j.
func (j *job) possible() bool {
	by := j.src
	switch j.kind {
	case jobFill:
		if len(j.pairs) != 1 {
			return false
		}
		by = j.dst
	case jobDestroy, jobCreate:
		by = j.dst
	case jobCopy, jobGather, jobScatter:
	default:
		return false
	}
	size := j.rt.ev.Size
	return by.Rank() == j.rt.ev.Self && j.dst.Rank() < size && j.by.Rank() < size && j.finish.IsEvent() &&
		j.finish.EventRank() < size
}

// appendList appends what wire.readList reads.
func appendList(b []byte, l space.List) []byte {
	if b = binary.AppendUvarint(b, uint64(l.Dim)); l.Dim == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(l.At)))
	for _, i := range l.At {
		b = binary.AppendVarint(b, i)
	}
	return b
}

// wire takes values from the front of bytes. Once they are not what they must be, bad stays set.
type wire struct {
	b   []byte
	bad bool
}

// nextBytes are the next n; zeros if there are not so many.
func (r *wire) nextBytes(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.bad, r.b = true, nil
		return make([]byte, min(max(n, 1), 8))
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *wire) u64() uint64 { return binary.LittleEndian.Uint64(r.nextBytes(8)) }

// readCount is a number up to limit.
func (r *wire) readCount(limit uint64) int {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > limit {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return int(v)
}

// readList is a list of points, or none.
func (r *wire) readList() (l space.List) {
	if l.Dim = r.readCount(space.MaxDim); l.Dim == 0 {
		return l
	}
	n := r.readCount(uint64(len(r.b)))
	l.At = make([]int64, 0, n)
	for range n {
		v, size := binary.Varint(r.b)
		if size <= 0 {
			r.bad, r.b = true, nil
			return space.List{}
		}
		l.At = append(l.At, v)
		r.b = r.b[size:]
	}
	return l
}

func (r *wire) space() space.Space {
	s, rest, err := space.DecodeSpace(r.b)
	if r.b = rest; err != nil {
		r.bad, r.b = true, nil
	}
	return s
}
