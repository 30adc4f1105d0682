package realm

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/golci/golci/comm/am"
	"github.com/golci/golci/internal/realm/event"
	"github.com/golci/golci/internal/realm/space"
	"github.com/golci/golci/internal/trace"
)

// Part says which points and fields an operation concerns. The zero Part is all points that both instances have, and
// each field to the one of the same number.
type Part struct {
	Points *Space // nil: all
	Fields []Pair // fields are numbered from 0, in the order of NewInstance
}

// Copy copies from src to dst, on whatever ranks and in whatever layouts, once its precondition (After) has triggered.
// The rank of the source sends. It does not block. The result triggers when the bytes are in their place. What is wrong
// with the arguments, also on other ranks, poisons it; so does the death of one of the ranks. The bytes that are read
// must not be among those that are written. Options are After, IgnoreFaults and Profile.
func Copy(at Site, dst, src Instance, p Part, opts ...Option) Event {
	return startJob(at, p.job(jobCopy, dst, src, nil), src.id, opts)
}

// Gather fills the k-th of the points of p, in dst, from the point with coordinate index[k] of src, which has one
// dimension. p.Points nil stands for all points of dst. Else it is as Copy. index must not change until the result
// triggers.
func Gather(at Site, dst, src Instance, index []int64, p Part, opts ...Option) Event {
	return startJob(at, p.job(jobGather, dst, src, index), src.id, opts)
}

// Scatter fills the point with coordinate index[k] of dst, which has one dimension, from the k-th of the points of p,
// in src. p.Points nil stands for all points of src. Else it is as Gather.
func Scatter(at Site, dst, src Instance, index []int64, p Part, opts ...Option) Event {
	return startJob(at, p.job(jobScatter, dst, src, index), src.id, opts)
}

// Fill sets a field of dst, by number, to v at the points, or everywhere if points is nil. Else it is as Copy.
func Fill[T any](at Site, dst Instance, field int, v T, points *Space, opts ...Option) Event {
	rt, _ := at.site()
	if f := FieldOf[T](""); f.wrong != nil {
		return rt.failed(rt.errorf("Fill", "%w", f.wrong))
	}
	value := append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v))...)
	j := Part{points, []Pair{{Dst: field}}}.job(jobFill, dst, dst, nil)
	j.value = value
	return startJob(at, j, dst.id, opts)
}

func (p Part) job(kind jobKind, dst, src Instance, index []int64) *job {
	j := &job{kind: kind, dst: dst.id, src: src.id, pairs: p.Fields, index: index, whole: p.Points == nil}
	if p.Points != nil {
		j.points = *p.Points
	}
	return j
}

// smallJob is how many bytes whoever runs the waiters moves itself. More are moved by the utility processor, so many
// at a time as stepBytes says.
const (
	smallJob  = 16 << 10
	smallRows = 64
	smallList = 256
	stepBytes = 1 << 20
)

// begin runs j, whose precondition has triggered.
func (j *job) begin(k *cascade) {
	rt := j.rt
	if j.watch != nil {
		k.readied(j.watch, j.finish)
	}
	if j.kind != jobFill && j.kind != jobDestroy {
		var err error
		if j.from, err = rt.local(j.src); err != nil {
			j.end(k, err)
			return
		}
	}
	if j.dst.Rank() != rt.rank {
		rt.withRemote(k, j.dst, func(k *cascade, r *remoteInstance, why *event.Poison) {
			if why != nil {
				j.over(k, why)
				return
			}
			j.layout, j.off = r.layout, r.off
			j.schedule(k)
		})
		return
	}
	var err error
	if j.to, err = rt.local(j.dst); err != nil {
		j.end(k, err)
		return
	}
	if j.kind == jobDestroy {
		rt.data.destroy(j.to)
		j.end(k, nil)
		return
	}
	j.layout = j.to.layout
	j.schedule(k)
}

// schedule runs j at once if it is small.
func (j *job) schedule(k *cascade) {
	j.choose()
	if j.small() {
		j.step(k, true)
		return
	}
	j.push(k)
}

// push has the utility processor do the next step.
func (j *job) push(k *cascade) {
	if j.watch != nil {
		j.watch.split = true
	}
	j.rt.utility.push(j.rt.newInternal(func(c *Ctx) error {
		j.step(&c.cascade, false)
		c.cascade.run(callBudget)
		return nil
	}), k)
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

// small tells whether j takes so little time that it may be done in a poll.
func (j *job) small() bool {
	each := int64(0)
	for _, p := range j.pairs {
		if p.Dst >= 0 && p.Dst < len(j.layout.Fields()) {
			each += j.layout.Fields()[p.Dst].Size
		}
	}
	n := j.points.Count()
	return n <= smallJob && n*max(each, 1) <= smallJob && j.points.RowCount() <= smallRows && len(j.index) <= smallList
}

// step does the next part of j, and sees to the rest. inPoll: it must not block.
func (j *job) step(k *cascade, inPoll bool) {
	if j.watch == nil {
		j.move(k, inPoll)
		return
	}
	x := k.starts(j.watch)
	n := j.move(k, inPoll)
	k.worked(x, j.kind.operation(), j.finish, j.dst.Rank(), n)
}

// move is step. It returns how many bytes it has moved. j may be over when it returns.
func (j *job) move(k *cascade, inPoll bool) (n int64) {
	if err := j.prepare(inPoll); err != nil {
		j.end(k, err)
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
		j.send(k)
		return n
	}
	n = j.done - before
	if j.done < total {
		j.push(k)
	} else {
		j.end(k, nil)
	}
	return n
}

// prepare makes the plan, and for memory that this rank reaches a cursor.
func (j *job) prepare(inPoll bool) (err error) {
	if j.plan != nil || j.filling != nil {
		return nil
	}
	switch j.kind {
	case jobFill:
		j.filling, err = space.NewFilling(j.layout, j.points, j.pairs[0].Dst, j.value, j.to.mem)
		return err
	case jobGather:
		j.plan, err = space.Gather(j.layout, j.from.layout, j.points, j.index, j.pairs...)
	case jobScatter:
		j.plan, err = space.Scatter(j.layout, j.from.layout, j.points, j.index, j.pairs...)
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
	if there := j.rt.reach(j.dst.Rank(), j.off, j.layout.Size(), inPoll); there != nil {
		j.cursor, err = j.plan.Over(there, j.from.mem)
	}
	return err
}

// reach is the memory of an instance of another rank, at off of its segment; nil if this rank does not reach it. The
// first call for a rank asks it, which a poll cannot.
func (rt *Runtime) reach(peer int, off, size int64, inPoll bool) []byte {
	if off < 0 || rt.data.rma == nil {
		return nil
	}
	known, ok := rt.data.mapped.Load(peer)
	if !ok {
		if inPoll {
			return nil
		}
		mem, err := rt.data.rma.Mapped(peer)
		if err != nil {
			return nil
		}
		known = mem
		rt.data.mapped.Store(peer, mem)
	}
	mem := known.([]byte)
	if off > int64(len(mem)) || size > int64(len(mem))-off {
		return nil
	}
	return mem[off:][:size:size]
}

// send sends the bytes to the rank of the destination: in one message if they fit.
func (j *job) send(k *cascade) {
	rt, peer := j.rt, j.dst.Rank()
	head := binary.LittleEndian.AppendUint64(nil, uint64(j.dst))
	var list []int64
	if j.kind == jobScatter {
		list = j.index
	}
	head = j.plan.AppendStream(appendIndex(head, list))
	c, err := j.plan.Over(nil, j.from.mem)
	if err != nil {
		j.end(k, err)
		return
	}
	n := int(j.plan.Size())
	o := &outgoing{peer: peer, done: func(k *cascade, why *event.Poison) {
		if why == nil {
			j.done = int64(n)
		}
		j.over(k, why)
	}}
	if j.watch != nil {
		j.watch.split = true // before another goroutine may be told of the end
	}
	o.ahead = func(_, in uint64) {
		rt.putBulk(peer, &am.Bulk{ID: in, Channel: Channel, From: c, Rest: n})
	}
	ref, ok := rt.expect(k, o)
	switch {
	case !ok:
	case len(head)+n <= rt.ep.MaxMedium():
		b := append(head, make([]byte, n)...)
		c.Pack(b[len(head):], 0)
		rt.sendParcel(k, peer, parcelPut, ref, b)
	default:
		rt.sendParcel(k, peer, parcelOpen, ref, head)
	}
}

// destination is the plan of a copy from another rank, and the instance that it writes to.
func (rt *Runtime) destination(b []byte) (c *space.Cursor, size int64, rest []byte, err error) {
	r := wire{b: b}
	id, index := InstanceID(r.u64()), r.index()
	if r.bad {
		return nil, 0, nil, errMalformed
	}
	in, err := rt.local(id)
	if err != nil {
		return nil, 0, nil, err
	}
	p, rest, err := in.layout.Receive(r.b, index)
	if err != nil {
		return nil, 0, nil, err
	}
	c, err = p.Over(in.mem, nil)
	return c, p.Size(), rest, err
}

// onPut: a small copy.
func (rt *Runtime) onPut(src int, ref uint64, b []byte) error {
	start := rt.begun()
	c, size, rest, err := rt.destination(b)
	if err == nil && int64(len(rest)) != size {
		err = fmt.Errorf("%w: %d bytes for a copy of %d", errMalformed, len(rest), size)
	}
	if err == nil {
		c.Unpack(rest, 0)
	}
	rt.served(start, OperationCopy, trace.Slice, src, size)
	rt.tellDone(src, ref, err)
	return nil
}

// onOpen: a large copy wants to begin. What takes long is left to the utility processor.
func (rt *Runtime) onOpen(src int, ref uint64, b []byte) error {
	start := rt.begun()
	open := func() {
		c, size, rest, err := rt.destination(b)
		if err == nil && (size == 0 || len(rest) > 0) {
			err = errMalformed
		}
		if err != nil {
			rt.tellDone(src, ref, err)
			return
		}
		rt.receive(src, size, ref, c.Unpack, func(*cascade) {
			rt.served(start, OperationCopy, trace.Span, src, size)
			rt.tellDone(src, ref, nil)
		})
	}
	if len(b) <= rt.ep.MaxMedium() {
		open()
		return nil
	}
	rt.utility.push(rt.newInternal(func(*Ctx) error { open(); return nil }), nil)
	return nil
}
