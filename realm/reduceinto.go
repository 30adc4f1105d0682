package realm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/golci/golci/internal/realm/event"
	"github.com/golci/golci/internal/realm/reduce"
	"github.com/golci/golci/internal/realm/space"
	"github.com/golci/golci/internal/trace"
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

// operators are those that have been registered.
var operators struct {
	mu   sync.Mutex
	onto map[string]func(mem []byte, l *space.Layout, f int, s Space) (replayer, error)
}

// replayer applies chunks of reductions.
type replayer interface{ Replay(chunk []byte) error }

// RegisterOp makes op known under a name, so that reductions by it can be applied on any rank, and returns it with that
// name. All ranks register the same operators, best where a package's variables are initialised. A second registration
// of a name panics, as it can only be a mistake in the program.
func RegisterOp[L, R any](name string, op *Op[L, R]) *Op[L, R] {
	named := *op
	named.Name = name
	operators.mu.Lock()
	defer operators.mu.Unlock()
	if operators.onto[name] != nil {
		panic(fmt.Sprintf("realm: RegisterOp: the operator %q is registered twice", name))
	}
	if operators.onto == nil {
		operators.onto = make(map[string]func([]byte, *space.Layout, int, Space) (replayer, error))
	}
	operators.onto[name] = func(mem []byte, l *space.Layout, f int, s Space) (replayer, error) {
		t, err := named.Onto(mem, l, f, s, reduce.Exclusive)
		if err != nil {
			return nil, err
		}
		return t, nil
	}
	return &named
}

// NewFold makes an instance for reductions by op into points of s. op has Fold and Identity. Errors name what is wrong.
func NewFold[L, R any](op *Op[L, R], s Space, mode ReductionMode) (*FoldInstance[L, R], error) {
	return reduce.NewFold(op, s, mode)
}

// NewList makes a log of reductions by op into points of s.
func NewList[L, R any](op *Op[L, R], s Space) (*ListInstance[L, R], error) {
	return reduce.NewList(op, s)
}

// target makes field f of in the target of reductions by the operator of that name into points of s.
func (rt *Runtime) target(in *instance, f int, name string, s Space) (replayer, error) {
	operators.mu.Lock()
	onto := operators.onto[name]
	operators.mu.Unlock()
	if onto == nil {
		return nil, fmt.Errorf("%w: rank %d has no operator %q", ErrArgument, rt.rank, name)
	}
	return onto(in.mem, in.layout, f, s)
}

// chunkBytes is what travels, or is applied, at a time.
const chunkBytes = 256 << 10

// Reduce applies the reductions of from to a field of dst, by number, once its precondition has triggered. from must
// not change until the result triggers; after that it may be Reset. Its operator has been registered. Reductions into
// one instance are applied one after another, by the utility processor of its rank. It does not block. The result is
// poisoned as that of Copy. Options are After, IgnoreFaults and Profile.
func Reduce(at Site, dst Instance, field int, from ReductionInstance, opts ...Option) Event {
	rt, _ := at.site()
	terms := rt.precondition(opts)
	if err := rt.ended(); err != nil {
		return rt.failed(err)
	}
	if from == nil || dst.id>>56 != 0x0C || dst.id.Rank() >= rt.size || field < 0 || field >= space.MaxFields {
		return rt.failed(rt.errorf("Reduce", "%w: field %d of %v", ErrArgument, field, dst.id))
	}
	x := &reduction{rt: rt, finish: rt.newEvent(), dst: dst.id, field: field, from: from, ignore: terms.ignore}
	x.Op, x.watch = x, rt.watchFor(rt.rank, uint32(terms.profiler))
	e := Event(x.finish)
	k := rt.begin(nil)
	defer k.end(callBudget)
	st, why := event.Triggered, (*event.Poison)(nil)
	if terms.after != NoEvent {
		st, why = rt.await(event.ID(terms.after), &x.Waiter)
	}
	switch st {
	case event.Unknown:
		x.over(k, rt.poison(rt.unknown("Reduce", terms.after)))
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
	chunks reduce.Chunker
	to     replayer // on this rank
	head   []byte   // of a parcel to another one
	done   int64    // bytes
	watch  *watch
}

// Fire implements event.Op.
func (x *reduction) Fire(w *event.Waiter, by any) { x.triggered(by.(*cascade), w.Poison) }

func (x *reduction) triggered(k *cascade, why *event.Poison) {
	if why != nil && !x.ignore {
		x.over(k, why)
		return
	}
	if x.watch != nil {
		k.readied(x.watch, x.finish)
		x.watch.split = true
	}
	x.push(k)
}

// over triggers the finish event.
func (x *reduction) over(k *cascade, why *event.Poison) {
	if x.watch == nil {
		k.trigger(x.finish, why)
		return
	}
	k.over(x.watch, x.finish, &OperationProfile{Kind: OperationReduce, Target: x.dst, Bytes: x.done}, why)
}

func (x *reduction) push(k *cascade) {
	x.rt.utility.push(x.rt.newInternal(func(c *Ctx) error {
		x.step(&c.cascade)
		c.cascade.run(callBudget)
		return nil
	}), k)
}

// step does away with the next chunk, and sees to the rest.
func (x *reduction) step(k *cascade) {
	var s piece
	if x.watch != nil {
		s = k.starts(x.watch)
	}
	watched := x.watch != nil
	n, err := x.apply(k)
	if err != nil {
		x.over(k, x.rt.poison(fmt.Errorf("reduction into %v: %w", x.dst, err)))
	}
	if watched {
		k.worked(s, OperationReduce, x.finish, x.dst.Rank(), n)
	}
}

// apply applies the next chunk, or sends it, and returns its bytes. x may be over when it returns without an error.
func (x *reduction) apply(k *cascade) (n int64, err error) {
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
	chunk := x.chunks.Next(d.scratch)
	switch {
	case len(chunk) == 0:
		x.over(k, nil)
		return 0, nil
	case x.to != nil:
		if err := x.to.Replay(chunk); err != nil {
			return 0, err
		}
		n = int64(len(chunk))
		x.done += n
		x.push(k)
		return n, nil
	}
	n = int64(len(chunk))
	o := &outgoing{peer: x.dst.Rank(), done: func(k *cascade, why *event.Poison) {
		if why != nil {
			x.over(k, why)
			return
		}
		x.done += n
		x.push(k)
	}}
	if ref, ok := x.rt.expect(k, o); ok {
		x.rt.sendParcel(k, o.peer, parcelReduce, ref, slices.Concat(x.head, chunk))
	}
	return n, nil
}

// aim finds the target, or writes what its rank needs to find it.
func (x *reduction) aim() error {
	if x.dst.Rank() == x.rt.rank {
		in, err := x.rt.local(x.dst)
		if err == nil {
			x.to, err = x.rt.target(in, x.field, x.from.OpName(), x.from.Space())
		}
		return err
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(x.dst))
	b = binary.AppendUvarint(b, uint64(x.field))
	b = binary.AppendUvarint(b, uint64(len(x.from.OpName())))
	b = append(b, x.from.OpName()...)
	x.head = space.AppendSpace(b, x.from.Space())
	return nil
}

// onReduce: a chunk of reductions of another rank. The utility processor applies it.
func (rt *Runtime) onReduce(k *cascade, src int, ref uint64, b []byte) error {
	b = bytes.Clone(b)
	rt.utility.push(rt.newInternal(func(*Ctx) error {
		start := rt.begun()
		err := rt.applyChunk(b)
		rt.served(start, OperationReduce, trace.Slice, src, int64(len(b)))
		rt.tellDone(src, ref, err)
		return nil
	}), k)
	return nil
}

func (rt *Runtime) applyChunk(b []byte) error {
	r := wire{b: b}
	id, field := InstanceID(r.u64()), r.count(space.MaxFields)
	name := string(r.bytes(r.count(1 << 16)))
	s := r.space()
	if r.bad {
		return errMalformed
	}
	in, err := rt.local(id)
	if err != nil {
		return err
	}
	t, err := rt.target(in, field, name, s)
	if err != nil {
		return err
	}
	return t.Replay(r.b)
}
