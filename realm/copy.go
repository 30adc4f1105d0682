package realm

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/observe/trace"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/fault"
	"github.com/golci/golci/realm/internal/observe"
	"github.com/golci/golci/realm/internal/space"
)

// Part says which points and fields an operation concerns. The zero Part is all points that both instances have, and
// each field to the one of the same number.
type Part struct {
	Points *Space // nil: all
	Fields []Pair // fields are numbered from 0, in the order of NewInstance
}

// Copy copies from src to dst, each point to that with the same coordinates, on whatever ranks and in whatever layouts, once its precondition (After) has triggered.
// The rank of the source sends. It does not block. The result triggers when the bytes are in their place. What is wrong
// with the arguments, also on other ranks, poisons it; so does the death of one of the ranks. The bytes that are read
// must not be among those that are written. To put a point elsewhere, use Gather or Scatter. Options are After,
// IgnoreFaults and Profile.
func Copy(at Site, dst, src Instance, p Part, opts ...Option) Event {
	return startJob(at, p.job(jobCopy, dst, src, Indirection{}), src.id, opts)
}

// Gather is GatherBy of an IndexList: it fills the k-th of the points of p, in dst, from the point with coordinate
// index[k] of src, which has one dimension.
func Gather(at Site, dst, src Instance, index []int64, p Part, opts ...Option) Event {
	return GatherBy(at, dst, src, IndexList(index), p, opts...)
}

// Scatter is ScatterBy of an IndexList: it fills the point with coordinate index[k] of dst, which has one dimension,
// from the k-th of the points of p, in src.
func Scatter(at Site, dst, src Instance, index []int64, p Part, opts ...Option) Event {
	return ScatterBy(at, dst, src, IndexList(index), p, opts...)
}

// Fill sets a field of dst, by number, to v at the points, or everywhere if points is nil. Else it is as Copy.
func Fill[T any](at Site, dst Instance, field int, v T, points *Space, opts ...Option) Event {
	rt, _ := at.site()
	if f := FieldOf[T](""); f.wrong != nil {
		return rt.failedEvent(rt.ev.CallErrorf("Fill", "%w", f.wrong))
	}
	value := append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v))...)
	j := Part{points, []Pair{{Dst: field}}}.job(jobFill, dst, dst, Indirection{})
	j.value = value
	return startJob(at, j, dst.id, opts)
}

func (p Part) job(kind jobKind, dst, src Instance, x Indirection) *job {
	j := &job{kind: kind, dst: dst.id, src: src.id, pairs: p.Fields, Indirection: x, whole: p.Points == nil}
	if p.Points != nil {
		j.points = *p.Points
	}
	return j
}

// How many bytes are moved at once: smallJob by whoever runs the waiters of an event, callJob by a call that has
// nothing to wait for. A hand-over takes as long as that. More are moved by the utility processor, stepBytes at a
// time.
const (
	smallJob  = 16 << 10
	callJob   = 128 << 10
	stepBytes = 1 << 20
)

// fetchMost is how many bytes the receiver gets from the memory of the source. More come sooner through chunks of bulk
// data, as both ranks copy then. Measured for 64 KiB between processes: 10 us, 13 us by chunks; for 1 MiB 185 and 110.
const fetchMost = 128 << 10

// What the plan of a job may have that is made in a poll.
const (
	smallRows = 64
	smallList = 256
)

// beginJob runs j, whose precondition has triggered.
func (j *job) beginJob(k *events.Cascade) {
	rt := j.rt
	if j.watch != nil {
		rt.ev.Log.NoteReady(j.watch, k.By, nil)
	}
	if j.kind == jobCreate {
		j.pushCreate(k)
		return
	}
	if j.kind != jobFill && j.kind != jobDestroy {
		var err error
		if j.from, err = rt.local(j.src); err != nil {
			j.endJob(k, err)
			return
		}
	}
	if j.dst.Rank() != rt.ev.Self {
		j.called = j.called && rt.knows(j.dst) // else this goes on in a poll
		rt.withRemote(k, j.dst, func(k *events.Cascade, r *remoteInstance, why *event.Poison) {
			if why != nil {
				j.finishJob(k, why)
				return
			}
			j.layout, j.off = r.layout, r.off
			j.schedule(k)
		})
		return
	}
	var err error
	if j.to, err = rt.local(j.dst); err != nil {
		j.endJob(k, err)
		return
	}
	if j.kind == jobDestroy {
		rt.data.destroy(j.to)
		j.endJob(k, nil)
		return
	}
	j.layout = j.to.layout
	j.schedule(k)
}

// schedule runs j at once if that takes little time.
func (j *job) schedule(k *events.Cascade) {
	j.choose()
	if j.by != 0 {
		j.fetch(k)
		return
	}
	mapped, known := j.rt.mapping(j.dst.Rank(), j.off)
	here := j.to != nil || mapped
	limit := int64(smallJob)
	if j.called {
		limit = callJob
	}
	switch {
	case j.to == nil && !known || !j.plain():
		j.pushStep(k)
	case here && j.size() > limit:
		j.pushStep(k)
	default: // messages take the bytes later, as polls go on
		j.stepJob(k)
	}
}

// pushStep has the utility processor do the next step.
func (j *job) pushStep(k *events.Cascade) {
	if j.watch != nil {
		j.watch.Split = true
	}
	j.rt.utility.pushTask(j.rt.newInternal(func(c *Ctx) error {
		j.workStep(&c.cascade)
		c.cascade.RunWaiters(events.CallBudget)
		return nil
	}), k)
}

// workStep is step on the utility processor, which may wait for a rank to tell its registered memory.
func (j *job) workStep(k *events.Cascade) {
	if _, known := j.rt.mapping(j.dst.Rank(), j.off); j.to == nil && !known {
		j.rt.askMapping(j.dst.Rank())
	}
	j.stepJob(k)
}

// choose sets the points and fields that were left open.
func (j *job) choose() {
	if j.whole {
		switch {
		case j.kind == jobScatter:
			j.points = j.from.layout.Space()
		case j.kind == jobCopy:
			j.points = j.layout.Space().Intersect(j.from.layout.Space())
		default:
			j.points = j.layout.Space()
		}
	}
	if len(j.pairs) == 0 {
		for f := range j.layout.Fields() {
			j.pairs = append(j.pairs, Pair{Dst: f, Src: f})
		}
	}
}

// plain tells whether the plan of j takes so little time that it may be made in a poll.
func (j *job) plain() bool { return j.points.RowCount() <= smallRows && len(j.list.At) <= smallList }

// size is how many bytes j moves, without padding; what is more than any limit may be less than that.
func (j *job) size() int64 {
	each := int64(0)
	for _, p := range j.pairs {
		if p.Dst >= 0 && p.Dst < len(j.layout.Fields()) {
			each += j.layout.Fields()[p.Dst].Size
		}
	}
	return min(j.points.Count(), callJob+1) * min(max(each, 1), callJob+1)
}

// stepJob does the next part of j, and sees to the rest.
func (j *job) stepJob(k *events.Cascade) {
	if j.watch == nil {
		j.moveNext(k)
		return
	}
	log, peer := &j.rt.ev.Log, j.dst.Rank()
	x := log.BeginPiece(j.watch)
	n := j.moveNext(k)
	log.EndPiece(x, k.By, peer, n)
}

// moveNext is stepJob. It returns how many bytes it has moved. j may be over when it returns.
func (j *job) moveNext(k *events.Cascade) (n int64) {
	if err := j.preparePlan(); err != nil {
		j.endJob(k, err)
		return 0
	}
	total, before := int64(0), j.done
	switch {
	case j.filling != nil:
		total = j.filling.Size()
		j.done = j.filling.Fill(j.done, stepBytes)
	case j.cursor != nil:
		total = j.plan.Size()
		j.done = j.cursor.Copy(j.done, stepBytes)
	case j.plan.Size() > 0:
		n = j.plan.Size()
		j.sendBytes(k)
		return n
	}
	n = j.done - before
	if j.done < total {
		j.pushStep(k)
	} else {
		j.endJob(k, nil)
	}
	return n
}

// preparePlan makes the plan, and for memory that this rank reaches a cursor.
func (j *job) preparePlan() (err error) {
	if j.plan != nil || j.filling != nil {
		return nil
	}
	switch j.kind {
	case jobFill:
		j.filling, err = space.NewFilling(j.layout, j.points, j.pairs[0].Dst, j.value, j.to.mem)
		return err
	case jobGather:
		j.plan, err = space.Gather(j.layout, j.from.layout, j.points, j.list, j.pairs...)
	case jobScatter:
		j.plan, err = space.Scatter(j.layout, j.from.layout, j.points, j.list, j.pairs...)
	default:
		j.plan, err = space.NewPlan(j.layout, j.from.layout, j.points, j.pairs...)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrArgument, err)
	}
	if j.to != nil {
		j.cursor, err = j.plan.Over(j.to.mem, j.from.mem)
		return err
	}
	if there := j.rt.reach(j.dst.Rank(), j.off, j.layout.Size()); there != nil {
		j.cursor, err = j.plan.Over(there, j.from.mem)
	}
	return err
}

// reach is the memory of an instance of another rank, at off of its segment; nil if this rank does not reach it, or has
// not asked.
func (rt *Runtime) reach(peer int, off, size int64) []byte {
	known, ok := rt.data.mapped.Load(peer)
	if off < 0 || !ok {
		return nil
	}
	mem := known.([]byte)
	if off > int64(len(mem)) || size > int64(len(mem))-off {
		return nil
	}
	return mem[off:][:size:size]
}

// mapping tells whether this rank reaches the registered memory of another one, which an instance is in unless off is
// negative, and whether that is known.
func (rt *Runtime) mapping(peer int, off int64) (mapped, known bool) {
	if off < 0 || rt.data.rma == nil {
		return false, true
	}
	mem, ok := rt.data.mapped.Load(peer)
	return ok && len(mem.([]byte)) > 0, ok
}

// askMapping asks another rank for its registered memory, and waits.
func (rt *Runtime) askMapping(peer int) {
	mem, err := rt.data.rma.Mapped(peer)
	if err != nil {
		mem = nil // it has died, and the copy finds out
	}
	rt.data.mapped.Store(peer, mem)
}

// sendBytes sends the bytes to the rank of the destination: in one message if they fit. That rank ends j.
func (j *job) sendBytes(k *events.Cascade) {
	rt, peer := j.rt, j.dst.Rank()
	head := binary.LittleEndian.AppendUint64(nil, uint64(j.dst))
	head = binary.LittleEndian.AppendUint64(head, uint64(j.finish))
	var list space.List
	if j.kind == jobScatter {
		list = j.list
	}
	head = j.plan.AppendStream(appendList(head, list))
	c, err := j.plan.Over(nil, j.from.mem)
	if err != nil {
		j.endJob(k, err)
		return
	}
	if j.watch != nil {
		j.watch.Split = true // before another goroutine may be told of the end
	}
	n := int(j.plan.Size())
	if len(head)+n <= rt.ev.Endpoint.MaxMedium() {
		b := append(head, make([]byte, n)...)
		c.Pack(b[len(head):], 0)
		j.sendPut(k, b)
		return
	}
	key := j.expose()
	o := &events.Outgoing{Peer: peer, Finish: j.finish, Done: func(k *events.Cascade, why *event.Poison) {
		if key.ID != 0 {
			rt.ev.Endpoint.Release(peer, key)
		}
		j.onAnswer(k, why)
	}}
	o.Ahead = func(_, in uint64) {
		rt.ev.PutBulk(peer, &am.Bulk{ID: in, Channel: Channel, From: c, Rest: n})
	}
	if ref, ok := rt.ev.ExpectAnswer(k, o); ok {
		head = binary.LittleEndian.AppendUint64(head, key.ID)
		rt.ev.SendParcel(k, peer, events.ParcelOpen, ref, binary.LittleEndian.AppendUint64(head, key.Base))
	}
}

// sendPut sends b, which is all of a small copy. If the peer owns the finish event, and nobody watches, its answer is
// not needed.
func (j *job) sendPut(k *events.Cascade, b []byte) {
	peer, ref := j.dst.Rank(), uint64(0)
	if j.finish.EventRank() != peer || j.watch != nil {
		ok := false
		if ref, ok = j.rt.ev.ExpectAnswer(k, &events.Outgoing{Peer: peer, Finish: j.finish, Done: j.onAnswer}); !ok {
			return
		}
	}
	j.rt.ev.SendParcel(k, peer, events.ParcelPut, ref, b)
}

// onAnswer: the rank of the destination, which ends j, has told so, or has died.
func (j *job) onAnswer(k *events.Cascade, why *event.Poison) {
	if j.watch == nil {
		return
	}
	if why == nil {
		j.done = j.plan.Size()
	}
	j.watch.Told = true
	j.finishJob(k, why)
}

// expose lets the rank of the destination read the bytes, if they lie in one piece on both sides; else the key is zero.
// The instance keeps the memory alive, and j the instance.
func (j *job) expose() (key conduit.Key) {
	if _, src, ok := j.plan.Whole(); ok && j.plan.Size() <= fetchMost && j.rt.ev.Endpoint.Reach(j.dst.Rank()).Get {
		key, _ = j.rt.ev.Endpoint.Expose(j.dst.Rank(), j.from.mem[src:][:j.plan.Size()])
	}
	return key
}

// incomingCopy is a copy from another rank, as it comes.
type incomingCopy struct {
	finish event.ID
	in     *instance
	plan   *space.Plan
	cursor *space.Cursor
	rest   []byte // what follows the description
}

// landing reads the description of a copy. The error is fault.ErrMalformed if there is none.
func (rt *Runtime) landing(b []byte) (x incomingCopy, why *event.Poison, err error) {
	r := wire{b: b}
	id := InstanceID(r.u64())
	x.finish = event.ID(r.u64())
	index := r.readList()
	if r.bad || !x.finish.IsEvent() || x.finish.EventRank() >= rt.ev.Size {
		return x, nil, fault.ErrMalformed
	}
	if x.in, err = rt.local(id); err == nil {
		x.plan, x.rest, err = x.in.layout.Receive(r.b, index)
	}
	if err == nil {
		x.cursor, err = x.plan.Over(x.in.mem, nil)
	}
	if err != nil {
		why = rt.ev.FaultPoison(fmt.Errorf("copy to %v: %w", id, err))
	}
	return x, why, nil
}

// onPut: a small copy.
func (rt *Runtime) onPut(k *events.Cascade, src int, ref uint64, b []byte) error {
	start := rt.ev.Log.Since()
	x, why, err := rt.landing(b)
	if err != nil {
		return err
	}
	if why == nil && int64(len(x.rest)) != x.plan.Size() {
		why = rt.ev.FaultPoison(fmt.Errorf("%w: %d bytes for a copy of %d", fault.ErrMalformed, len(x.rest), x.plan.Size()))
	}
	if why == nil {
		x.cursor.Unpack(x.rest, 0)
		rt.ev.Log.NoteServed(start, observe.Copy, trace.Slice, src, x.plan.Size())
	}
	rt.ev.Conclude(k, src, ref, x.finish, why)
	return nil
}

// onOpen: a large copy wants to begin. What takes long is left to the utility processor.
func (rt *Runtime) onOpen(k *events.Cascade, src int, ref uint64, b []byte) error {
	if len(b) <= rt.ev.Endpoint.MaxMedium() {
		return rt.openBytes(k, src, ref, b)
	}
	rt.utility.pushTask(rt.newInternal(func(c *Ctx) error {
		if err := rt.openBytes(&c.cascade, src, ref, b); err != nil {
			rt.ev.Fatal(rt.ev.CallErrorf("message", "rank %d sent a malformed parcel: %w", src, err))
		}
		c.cascade.RunWaiters(events.CallBudget)
		return nil
	}), k)
	return nil
}

// openBytes gets the bytes, if it can, or makes room for them.
func (rt *Runtime) openBytes(k *events.Cascade, src int, ref uint64, b []byte) error {
	start := rt.ev.Log.Since()
	x, why, err := rt.landing(b)
	if err != nil {
		return err
	}
	r := wire{b: x.rest}
	key := conduit.Key{ID: r.u64(), Base: r.u64()}
	if why == nil && (r.bad || len(r.b) > 0 || x.plan.Size() == 0) {
		why = rt.ev.FaultPoison(fault.ErrMalformed)
	}
	if why != nil {
		rt.ev.Conclude(k, src, ref, x.finish, why)
		return nil
	}
	key.Size = x.plan.Size()
	end := func(k *events.Cascade, why *event.Poison) {
		rt.ev.Log.NoteServed(start, observe.Copy, trace.Span, src, key.Size)
		rt.ev.Conclude(k, src, ref, x.finish, why)
	}
	if dst, _, ok := x.plan.Whole(); ok && key.ID != 0 && rt.ev.Endpoint.Reach(src).Get {
		rt.ev.Fetch(src, key, x.in.mem[dst:][:key.Size], end)
		return nil
	}
	rt.ev.ReceiveBytes(src, key.Size, ref, x.cursor.Unpack, func(k *events.Cascade) { end(k, nil) })
	return nil
}
