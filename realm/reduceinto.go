package realm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/golci/golci/internal/observe/trace"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/fault"
	"github.com/golci/golci/realm/internal/observe"
	"github.com/golci/golci/realm/internal/reduce"
	"github.com/golci/golci/realm/internal/space"
)

// Op is a reduction operator. L is the type of the data, R that of the values that are reduced into them. The result
// must not depend on the order of reductions.
type Op[L, R any] = reduce.Op[L, R]

// FoldInstance is an instance for reductions that holds one value for each point. It grows with the points that are
// reduced into.
type FoldInstance[L, R any] = reduce.Fold[L, R]

// ListInstance is an instance for reductions that is a log of them.
type ListInstance[L, R any] = reduce.List[L, R]

// ReductionInstance is a FoldInstance or a ListInstance.
type ReductionInstance = reduce.Instance

// ReductionMode tells whether several tasks reduce into an instance at once.
type ReductionMode = reduce.Mode

// Modes.
const (
	ExclusiveReductions = reduce.Exclusive
	AtomicReductions    = reduce.Atomic // for values of 4 or 8 bytes
)

// ReductionCase describes reductions; its Choose tells which kind of instance is expected to take less time.
type ReductionCase = reduce.Case

// ReductionKind is a kind of instance for reductions.
type ReductionKind = reduce.Kind

// Kinds of instances for reductions.
const (
	ReductionFold = reduce.KindFold // a FoldInstance
	ReductionList = reduce.KindList // a ListInstance
)

// Built-in operators.

// SumOp adds.
func SumOp[T reduce.Number]() *Op[T, T] { return reduce.Sum[T]() }

// ProdOp multiplies.
func ProdOp[T reduce.Number]() *Op[T, T] { return reduce.Prod[T]() }

// MinOp takes the smaller one; NaN if there is one.
func MinOp[T reduce.Real]() *Op[T, T] { return reduce.Min[T]() }

// MaxOp takes the larger one; NaN if there is one.
func MaxOp[T reduce.Real]() *Op[T, T] { return reduce.Max[T]() }

// AndOp takes the bitwise and.
func AndOp[T reduce.Integer]() *Op[T, T] { return reduce.And[T]() }

// OrOp takes the bitwise or.
func OrOp[T reduce.Integer]() *Op[T, T] { return reduce.Or[T]() }

// XorOp takes the bitwise exclusive or.
func XorOp[T reduce.Integer]() *Op[T, T] { return reduce.Xor[T]() }

// NewFold makes an instance for reductions by op into points of s, which are 2^36 at most. op has Apply, Fold and
// Identity. It does not block. The error is ErrArgument, and says what op, mode or s lacks.
func NewFold[L, R any](op *Op[L, R], s Space, mode ReductionMode) (*FoldInstance[L, R], error) {
	f, err := reduce.NewFold(op, s, mode)
	if err != nil {
		return nil, fmt.Errorf("realm: NewFold: %w: %w", ErrArgument, err)
	}
	return f, nil
}

// NewList makes a log of reductions by op into points of s. op has Apply. It does not block. The error is ErrArgument,
// and says what op or s lacks.
func NewList[L, R any](op *Op[L, R], s Space) (*ListInstance[L, R], error) {
	l, err := reduce.NewList(op, s)
	if err != nil {
		return nil, fmt.Errorf("realm: NewList: %w: %w", ErrArgument, err)
	}
	return l, nil
}

// chunkBytes is what travels, or is applied, at a time.
const chunkBytes = 256 << 10

// chunksUnderWay is how many chunks of a fold instance travel at once. Those of a list do so one by one, because lists
// are applied in their order.
const chunksUnderWay = 4

// Reduce applies the reductions of from to a field of dst, by number, once its precondition has triggered. from must
// not change until the result triggers; after that it may be Reset. Its operator has been registered. Reductions into
// one instance are applied one after another, by the utility processor of its rank, but with Atomically. It does not
// block. The result is poisoned as that of Copy, and if the operator panics. Options are After, IgnoreFaults, Profile
// and Atomically.
func Reduce(at Site, dst Instance, field int, from ReductionInstance, opts ...Option) Event {
	rt, _ := at.site()
	terms := rt.precondition(opts)
	if err := rt.ev.EndedError(); err != nil {
		return rt.failedEvent(err)
	}
	if from == nil || !dst.id.valid() || dst.id.Rank() >= rt.ev.Size || field < 0 || field >= space.MaxFields {
		return rt.failedEvent(rt.ev.CallErrorf("Reduce", "%w: field %d of %v", ErrArgument, field, dst.id))
	}
	if o := operatorOf(from.OpName()); o == nil || o.op != from.Operator() {
		return rt.failedEvent(rt.ev.CallErrorf("Reduce", "%w: the operator %q is not the result of RegisterOp", ErrArgument,
			from.OpName()))
	}
	x := &reduction{
		rt: rt, dst: dst.id, field: field, from: from, ignore: terms.ignore, mode: modeOf(opts),
	}
	x.Op = x
	x.finish = rt.ev.NewEventAfter(event.ID(terms.after), &x.Waiter)
	x.watch = rt.ev.Log.BeginFor(observe.Reduce, uint64(x.finish), rt.ev.Self, uint32(terms.profiler))
	e := Event(x.finish)
	k := rt.ev.BeginCascade(nil)
	defer k.EndCascade(events.CallBudget)
	st, why := event.Triggered, (*event.Poison)(nil)
	if terms.after != NoEvent {
		st, why = rt.ev.AwaitEvent(event.ID(terms.after), &x.Waiter)
	}
	switch st {
	case event.Unknown:
		x.finishReduction(k, rt.ev.FaultPoison(rt.unknown("Reduce", terms.after)))
	case event.Triggered:
		x.triggered(k, why)
	}
	return e
}

// reduction is the application of reductions to an instance. The rank that has made them does it, chunk by chunk, on
// its utility processor.
type reduction struct {
	event.Waiter
	rt     *Runtime
	finish event.ID
	dst    InstanceID
	field  int
	from   ReductionInstance
	ignore bool
	mode   ReductionMode
	to     replayer        // of memory that this rank reaches
	there  *remoteInstance // what is known of dst; nil if this rank is not to apply there itself
	head   []byte          // of a parcel to another one
	watch  *observe.Operation

	// Owned by the tasks of the runtime on the utility processor.
	chunks   reduce.Chunker
	done     int64  // bytes
	empty    bool   // there are no more chunks
	held     []byte // the parcel of the last one, which is to be sent when the others have been applied
	underWay int
	most     int  // under way at once
	ended    bool // the finish event has been triggered, or is left to the peer
}

// Fire implements event.Op.
func (x *reduction) Fire(w *event.Waiter, by any) { x.triggered(by.(*events.Cascade), w.Poison) }

func (x *reduction) triggered(k *events.Cascade, why *event.Poison) {
	if why != nil && !x.ignore {
		x.finishReduction(k, why)
		return
	}
	if x.watch != nil {
		x.rt.ev.Log.NoteReady(x.watch, k.By, nil)
		x.watch.Split = true
	}
	if x.mode != AtomicReductions || x.dst.Rank() == x.rt.ev.Self || x.rt.data.rma == nil {
		x.pushStep(k)
		return
	}
	x.rt.withRemote(k, x.dst, func(k *events.Cascade, r *remoteInstance, why *event.Poison) {
		if why != nil {
			x.finishReduction(k, why)
			return
		}
		x.there = r
		x.pushStep(k)
	})
}

// finishReduction triggers the finish event.
func (x *reduction) finishReduction(k *events.Cascade, why *event.Poison) {
	x.ended = true
	if x.watch == nil {
		k.Trigger(x.finish, why)
		return
	}
	w := x.watch
	w.Record[observe.Target], w.Record[observe.Bytes], w.Peer = uint64(x.dst), uint64(x.done), x.dst.Rank()
	x.rt.endOperation(k, w, why)
}

func (x *reduction) pushStep(k *events.Cascade) { x.then(k, x.stepReduction) }

// then makes the utility processor call f.
func (x *reduction) then(k *events.Cascade, f func(k *events.Cascade)) {
	x.rt.utility.pushTask(x.rt.newInternal(func(c *Ctx) error {
		f(&c.cascade)
		c.cascade.RunWaiters(events.CallBudget)
		return nil
	}), k)
}

// stepReduction does away with chunks, and sees to the rest.
func (x *reduction) stepReduction(k *events.Cascade) {
	var s observe.Piece
	watched := x.watch != nil
	if watched {
		s = x.rt.ev.Log.BeginPiece(x.watch)
	}
	n := int64(0)
	err := fault.Safely("an operator", func() (err error) { n, err = x.apply(k); return err })
	if err != nil {
		x.finishReduction(k, x.rt.ev.FaultPoison(fmt.Errorf("reduction into %v: %w", x.dst, err)))
	}
	if watched {
		x.rt.ev.Log.EndPiece(s, k.By, x.dst.Rank(), n)
	}
}

// apply applies the next chunk, or sends as many as may be under way, and returns their bytes. x may be over when it
// returns without an error.
func (x *reduction) apply(k *events.Cascade) (n int64, err error) {
	if x.chunks == nil {
		x.chunks = x.from.Chunks()
		if err := x.aim(); err != nil {
			return 0, err
		}
	}
	d := &x.rt.data
	if room := max(chunkBytes, x.chunks.Least()); len(d.scratch) < room {
		d.scratch = make([]byte, room)
	}
	if x.to == nil {
		return x.sendChunks(k, d.scratch), nil
	}
	chunk := x.chunks.Next(d.scratch)
	if len(chunk) == 0 {
		x.finishReduction(k, nil)
		return 0, nil
	}
	if err := x.to.Replay(chunk); err != nil {
		return 0, err
	}
	n = int64(len(chunk))
	x.done += n
	x.pushStep(k)
	return n, nil
}

// sendChunks sends chunks. The last one has to come last, as it has the peer trigger the finish event.
func (x *reduction) sendChunks(k *events.Cascade, buf []byte) (bytes int64) {
	for x.held == nil && !x.empty && x.underWay < x.most {
		chunk := x.chunks.Next(buf)
		n := int64(len(chunk))
		if n == 0 {
			x.empty = true
			break
		}
		b := slices.Concat(make([]byte, 8), x.head, chunk)
		if len(chunk)+x.chunks.Least() <= len(buf) { // there is room for more, so there is no more
			binary.LittleEndian.PutUint64(b, uint64(x.finish))
			x.held = b
			break
		}
		x.underWay++
		bytes += n
		x.postChunk(k, b, &events.Outgoing{Peer: x.dst.Rank(), Done: func(k *events.Cascade, why *event.Poison) {
			x.then(k, func(k *events.Cascade) { x.landed(k, n, why) })
		}})
	}
	switch {
	case x.underWay > 0:
	case x.held != nil:
		n := int64(len(x.held) - len(x.head) - 8)
		bytes += n
		x.ended = true
		done := func(k *events.Cascade, why *event.Poison) { x.onAnswer(k, n, why) }
		x.postChunk(k, x.held, &events.Outgoing{Peer: x.dst.Rank(), Finish: x.finish, Done: done})
	default:
		x.finishReduction(k, nil)
	}
	return bytes
}

func (x *reduction) postChunk(k *events.Cascade, b []byte, o *events.Outgoing) {
	if ref, ok := x.rt.ev.ExpectAnswer(k, o); ok {
		x.rt.ev.SendParcel(k, o.Peer, events.ParcelReduce, ref, b)
	}
}

// landed is called when a chunk other than the last has been applied, or has failed. n is what it has added. why is the
// failure, which ends the reduction; nil if there is none.
func (x *reduction) landed(k *events.Cascade, n int64, why *event.Poison) {
	x.underWay--
	switch {
	case x.ended:
	case why != nil:
		x.finishReduction(k, why)
	default:
		x.done += n
		x.stepReduction(k)
	}
}

// onAnswer: the peer has applied the last chunk and so ended x, or has died. No task of the runtime has to do with x
// any more.
func (x *reduction) onAnswer(k *events.Cascade, n int64, why *event.Poison) {
	if x.watch == nil {
		return
	}
	if why == nil {
		x.done += n
	}
	x.watch.Told = true
	x.finishReduction(k, why)
}

// aim finds the target, or writes what its rank needs to find it.
func (x *reduction) aim() error {
	if x.dst.Rank() == x.rt.ev.Self {
		in, err := x.rt.local(x.dst)
		if err == nil {
			x.to, err = x.rt.fieldTarget(in.mem, in.layout, x.field, x.from.OpName(), x.from.Space(), x.mode)
		}
		return err
	}
	if r := x.there; r != nil {
		if _, known := x.rt.mapping(x.dst.Rank(), r.off); !known {
			x.rt.askMapping(x.dst.Rank())
		}
		if mem := x.rt.reach(x.dst.Rank(), r.off, r.layout.Size()); mem != nil {
			var err error
			x.to, err = x.rt.fieldTarget(mem, r.layout, x.field, x.from.OpName(), x.from.Space(), x.mode)
			return err
		}
	}
	if x.most = 1; !x.from.Ordered() {
		x.most = chunksUnderWay
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(x.dst))
	b = binary.AppendUvarint(append(b, byte(x.mode)), uint64(x.field))
	b = appendText(b, x.from.OpName())
	x.head = space.AppendSpace(b, x.from.Space())
	return nil
}

// onReduce: a chunk of reductions of another rank. The utility processor applies it. Before the chunk is the finish
// event if it is the last one, else 0.
func (rt *Runtime) onReduce(k *events.Cascade, src int, ref uint64, b []byte) error {
	r := wire{b: b}
	finish := event.ID(r.u64())
	if r.bad || finish != 0 && (!finish.IsEvent() || finish.EventRank() != src) {
		return fault.ErrMalformed
	}
	if b = r.b; len(b) <= rt.ev.Endpoint.MaxMedium() { // it may be in the receive space
		b = bytes.Clone(b)
	}
	rt.utility.pushTask(rt.newInternal(func(c *Ctx) error {
		start := rt.ev.Log.Since()
		err := fault.Safely("an operator", func() error { return rt.applyChunk(b) })
		rt.ev.Log.NoteServed(start, observe.Reduce, trace.Slice, src, int64(len(b)))
		if finish == 0 {
			rt.ev.TellDone(src, ref, err)
			return nil
		}
		rt.ev.Conclude(&c.cascade, src, ref, finish, rt.ev.PoisonOf(err))
		c.cascade.RunWaiters(events.CallBudget)
		return nil
	}), k)
	return nil
}

func (rt *Runtime) applyChunk(b []byte) error {
	r := wire{b: b}
	id, mode, field := InstanceID(r.u64()), ReductionMode(r.nextBytes(1)[0]), r.readCount(space.MaxFields)
	name := string(r.nextBytes(r.readCount(1 << 16)))
	s := r.space()
	if r.bad || mode > AtomicReductions {
		return fault.ErrMalformed
	}
	in, err := rt.local(id)
	if err != nil {
		return err
	}
	t, err := rt.fieldTarget(in.mem, in.layout, field, name, s, mode)
	if err != nil {
		return err
	}
	return t.Replay(r.b)
}
