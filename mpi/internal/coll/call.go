package coll

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/progress"
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
)

// An argument.Description describes a collective of a program in Go or in C, of one group or of two. Do and Start carry
// it out (6.1, 6.12). These are the steps of a call. beginCall gives it its number, and the state that is kept for it.
// setSlices or setDatatypes make the buffers. choose finds the algorithm and makes the schedule. finishCall carries
// that out, or launchCall starts it.

// Do carries out a collective and waits for its end. Errors of the arguments of slices fail the call on all ranks.
// Those of datatypes are found before the call has a number: the other ranks do not learn of them, and the next call
// of this rank may take its place.
func (v *View) Do(k *argument.Description) error {
	if k.Elem == nil || v.byPeers(k) {
		return v.doDescribed(k)
	}
	x, err := v.beginCall(k.What, k.Elem.Err(), false)
	if err != nil {
		return err
	}
	return x.finishCall(x.setSlices(k))
}

// doDescribed is Do of buffers with datatypes, or of slices between two groups or in a neighbourhood.
func (v *View) doDescribed(k *argument.Description) error {
	if k.Elem != nil {
		if err := v.describeSlices(k); err != nil {
			return err
		}
	} else if done, err := v.doDense(k); done {
		return err
	}
	return v.doDatatypes(k)
}

// peersOf is where the rank stands in a call.
func (v *View) peersOf(k *argument.Description) argument.Peers {
	p := argument.Peers{Rank: v.Rank, Group: v.groupSize()}
	if v.betweenGroups() {
		p.Other = v.otherSize()
	}
	if k.Neighbors() {
		p.Near = v.comm.Neighborhood()
	}
	return p
}

// describeSlices gives slices their datatype and their parts. A call that has an error revokes the communicator: the
// other ranks wait in a call of their own.
func (v *View) describeSlices(k *argument.Description) error {
	err := v.comm.CheckUsable(k.What)
	switch {
	case err != nil:
		return err
	case k.Err != nil:
		_ = v.comm.Revoke() // the first error is the one to tell
		return k.Err
	}
	p := v.peersOf(k)
	if err := k.DescribeSlices(&p); err != nil {
		return v.comm.Errorf(k.What, ": %w", err)
	}
	return nil
}

// readArgs looks at the arguments of a collective that have datatypes.
func (v *View) readArgs(k *argument.Description) (g argument.Datatypes, o argument.Operator, err error) {
	if err = v.comm.CheckUsable(k.What); err != nil {
		return g, o, err
	}
	p := v.peersOf(k)
	if g, o, err = k.ReadDatatypes(&p, v.Checked); err != nil {
		return g, o, v.comm.Errorf(k.What, ": %w", err)
	}
	return g, o, nil
}

// Used returns how many parts each buffer of k has. It is 0 for a buffer that is no array of parts. It is -1 for a
// buffer that the rank does not use. A call with a bad root uses nothing.
func (v *View) Used(k *argument.Description) (ins, outs int) {
	p := v.peersOf(k)
	return k.Used(&p)
}

// doDense is Do, if all is as usual. !done: nothing has happened.
func (v *View) doDense(k *argument.Description) (done bool, err error) {
	p := v.peersOf(k)
	c, ok := k.Pack(&p)
	if !ok || v.comm.CheckUsable(k.What) != nil {
		return false, nil
	}
	x, err := v.beginCall(k.What, nil, false)
	if err != nil {
		return true, err
	}
	if x.signature = c.Elems; v.Checked {
		x.options.Signature = c.Elems
	}
	x.setBuffers(c.In.Mem, c.In.Bytes/c.Size, c.Out.Mem, c.Out.Bytes/c.Size, c.Size)
	x.op = c.Op
	return true, x.finishCall(x.choose(k.Kind, k.Root, nil, nil))
}

// doDatatypes is Do of buffers with any datatypes.
func (v *View) doDatatypes(k *argument.Description) error {
	g, o, err := v.readArgs(k)
	if err != nil {
		return err
	}
	x, err := v.beginCall(k.What, nil, false)
	if err != nil {
		return err
	}
	err = x.finishCall(x.setDatatypes(k, g, o))
	x.args.EndBuffers(err == nil)
	return err
}

// Start is Do that does not wait.
func (v *View) Start(k *argument.Description) (comm.Req, error) {
	if k.Elem != nil && !v.byPeers(k) {
		x, err := v.beginCall(k.What, k.Elem.Err(), true)
		if err != nil {
			return comm.Req{}, err
		}
		return x.launchCall(x.setSlices(k))
	}
	if k.Elem != nil {
		if err := v.describeSlices(k); err != nil {
			return comm.Req{}, err
		}
	}
	g, o, err := v.readArgs(k)
	if err != nil {
		return comm.Req{}, err
	}
	x, err := v.beginCall(k.What, nil, true)
	if err != nil {
		return comm.Req{}, err
	}
	return x.launchCall(x.setDatatypes(k, g, o))
}

// Prepare looks at the arguments of a collective that is to be started again and again: those with datatypes, and those
// of neighbourhoods, which it describes.
func (v *View) Prepare(k *argument.Description) error {
	if k.Elem != nil && k.Neighbors() {
		return v.describeSlices(k)
	}
	if k.Elem == nil {
		_, _, err := v.readArgs(k)
		return err
	}
	return nil
}

// choose finds the algorithm of a collective of one group, and sets the schedule. in and out are the parts of the
// buffers where they differ in length.
func (x *Call) choose(k argument.Kind, root int, in, out *argument.Parts) error {
	switch k {
	case argument.KindBarrier:
		return x.chooseBarrier()
	case argument.KindBcast:
		return x.chooseBcast(root)
	case argument.KindGather:
		return x.chooseEqualParts(&gathering, root)
	case argument.KindGatherv:
		return x.chooseGivenParts(&gathering, out, root)
	case argument.KindScatter:
		return x.chooseEqualParts(&scattering, root)
	case argument.KindScatterv:
		return x.chooseGivenParts(&scattering, in, root)
	case argument.KindAllgather:
		return x.chooseAllgather()
	case argument.KindAllgatherv:
		return x.chooseAllgatherv(out)
	case argument.KindAlltoall:
		return x.chooseAlltoall()
	case argument.KindAlltoallv, argument.KindAlltoallw:
		return x.chooseAlltoallv(in, out)
	case argument.KindReduce:
		return x.chooseReduce(root)
	case argument.KindAllreduce:
		return x.chooseAllreduce()
	case argument.KindReduceScatter:
		return x.chooseReduceScatter(out)
	case argument.KindReduceScatterBlock:
		return x.chooseReduceScatterBlock()
	case argument.KindScan:
		return x.chooseScan(&inclusive, true)
	case argument.KindExscan:
		return x.chooseScan(&exclusive, !x.emptyPrefix())
	}
	return x.callErrorf(errs.UnsupportedOperation, "there is no collective %d", k)
}

// setSlices makes x the call k of slices: with its buffers, its operation and its schedule.
func (x *Call) setSlices(k *argument.Description) error {
	x.signature = k.Elem.Signature()
	if x.st.Checked {
		x.options.Signature = x.signature
	}
	x.setBuffers(k.In.Mem, int(k.In.N), k.Out.Mem, int(k.Out.N), k.Elem.Size())
	x.op = k.Operator
	if k.Err != nil {
		return k.Err
	}
	return x.choose(k.Kind, k.Root, &k.In.Parts, &k.Out.Parts)
}

// byPeers tells that a call is one between two groups or in a neighbourhood.
func (v *View) byPeers(k *argument.Description) bool { return v.betweenGroups() || k.Neighbors() }

// beginCall starts a call: one at a time on a communicator. When it returns no error, finishCall must follow.
// With later, for a call that does not wait, launchCall must follow.
func (v *View) beginCall(what string, typ error, later bool) (*Call, error) {
	st := v.State
	last := st.state.Load()
	if last%2 != 0 || !st.state.CompareAndSwap(last, last+3) {
		return nil, v.concurrent(what)
	}
	x := &st.running
	if later {
		x = st.open.idle.Get().(*Call)
	}
	x.view, x.kind, x.call = v, what, last/2+1
	x.options.Endable, x.options.Signature, x.signature = v.until != nil, 0, 0
	if x.owed.Load() {
		x.owed.Store(false)
	}
	if typ != nil || x.call >= st.prepareFrom || v.until != nil || st.poison.Load() != nil {
		if err := x.prepareCall(typ); err != nil {
			err = x.endCall(err)
			if x.async != nil {
				st.open.idle.Put(x)
			}
			return nil, err
		}
	}
	return x, nil
}

func (v *View) concurrent(what string) error {
	call := v.state.Load() / 2
	text := fmt.Sprintf("call %d", call)
	if tag, ok := v.tagOf(call); ok {
		text = algorithm.CallText(v.size, tag, call)
	}
	return v.comm.Errorf(what, ": %w: %s", sentinel.ErrConcurrent, text)
}

// endCall ends the call and returns its error, which the other ranks are told of. If the program's operation has
// panicked, that panic goes on here.
func (x *Call) endCall(err error) error {
	if err != nil {
		x.failAll(err)
		if x.async == nil {
			x.st.pendingError.Store(nil)
			x.st.settleFailed(x.call)
		}
	}
	if x.stop != nil {
		x.stop()
		x.stop = nil
	}
	v := x.panic
	x.panic, x.scratch = nil, nil
	if err == nil && x.st.OfRank.isolated.Load() {
		x.st.state.Store(x.call * 2) // before the look at dead calls
		x.st.oweEnded(x.call, nil)
	} else {
		arch.StoreRel64(&x.st.state, x.call*2)
	}
	if v != nil {
		panic(v)
	}
	return err
}

// finishCall carries out the call, unless err is not nil, and ends it.
func (x *Call) finishCall(err error) error {
	if err == nil {
		if err = x.settleCall(); err == nil {
			err = x.perform()
		}
	}
	if err == nil && x.stop == nil { // the usual case, without the call of end
		arch.StoreRel64(&x.st.state, x.call*2)
		return nil
	}
	return x.endCall(err)
}

// settleCall adds the call to the past, once it is known what is called. Where types are checked all ranks then compare
// what they call.
func (x *Call) settleCall() error {
	if x.size == 1 {
		return nil
	}
	x.enterPast()
	if x.compares() {
		return x.compareAll()
	}
	return nil
}

// buffer is one of the program: len elements of size bytes.
type buffer struct {
	mem       []byte
	len, size int
}

// setBuffers gives x the buffers of its call: where they begin, and how many elements of size bytes they have. A call
// with one buffer has it as out.
func (x *Call) setBuffers(in unsafe.Pointer, nIn int, out unsafe.Pointer, nOut, size int) {
	x.buf[schedule.In].setBuffer(in, nIn, size)
	x.buf[schedule.Out].setBuffer(out, nOut, size)
}

// setBuffer sets the fields one by one, which costs less than to set the whole.
func (b *buffer) setBuffer(mem unsafe.Pointer, n, size int) {
	b.mem = unsafe.Slice((*byte)(mem), n*size)
	b.len, b.size = n, size
}

// Call is one call of a collective on one rank.
type Call struct {
	view      *View // by which the call was made
	st        *State
	kind      string // the function that the program has called, for errors
	alg       algorithm.Algorithm
	tag       int
	lastTag   int // of the last one of several messages, if that has a tag of its own; else tag
	rank      int
	size      int
	call      uint64 // its number on the communicator; 0 for Finalize
	word      uint64 // what is called; see algorithm.History
	head      uint64 // a hash of that and of what was called before
	mark      uint64 // the bits of it that are in tags are the mark
	bytes     int    // that each rank brings, where all bring as many; else 0
	signature uint64 // of the elements, 0 if not known
	seal      uint64 // what the others compare on the shared segment
	options   comm.Options
	alarm     *progress.Done    // of the listener; nil for Finalize
	once      bool              // no rank sends another two messages
	peer      int               // the rank for which the current wait waits
	from      int               // peer if that wait is for a receive, else -1
	scratch   *argument.Scratch // that borrow has given last
	panic     any               // what the program's operation has panicked with
	async     *async            // of a call that does not wait; else nil
	openAt    int               // its place in openCalls, under the lock of these
	stop      func() bool       // the end of the view's context is no alarm any more; nil without one

	steps *schedule.Schedule // one of plans
	plans [plansKept]planned
	run   schedule.Run
	reqs  []comm.Req            // of the steps that are under way, by number
	pairs []pair                // of the steps that have been started; they stay where they are until the call ends
	buf   [schedule.Bufs]buffer // the call's
	op    argument.Operator     // of a reduction
	args  argument.Datatypes    // the arguments of MPI, if the call has them

	exchange *claimExchange                // nil until the ranks compare what they call
	owed     atomic.Bool                   // it fails because a call before it has
	small    [argument.SmallScratch]uint64 // memory to work in, if little is needed
}

// setDatatypes makes x the call k, whose buffers have datatypes: with its buffers, its operation and its schedule.
func (x *Call) setDatatypes(k *argument.Description, g argument.Datatypes, o argument.Operator) error {
	x.signature, x.options.Signature = g.Of.Signature(), g.Signature()
	x.args = g
	x.args.Active = true
	in, out := &x.args.In, &x.args.Out
	in.BeginArea()
	out.BeginArea()
	size := max(g.Elem, 1)
	mem := [2]unsafe.Pointer{unsafe.Pointer(unsafe.SliceData(in.Data)), unsafe.Pointer(unsafe.SliceData(out.Data))}
	if in.IsInPlace {
		mem[0] = argument.InPlace()
	}
	if out.IsInPlace {
		mem[1] = argument.InPlace()
	}
	x.setBuffers(mem[0], len(in.Data)/size, mem[1], len(out.Data)/size, size)
	x.op = o
	switch {
	case x.st.betweenGroups():
		return x.chooseInter(k)
	case k.Neighbors():
		return x.chooseNear(k)
	case k.Kind == argument.KindReduceScatter:
		return x.chooseReduceScatter(&argument.Parts{Counts: k.Counts()})
	}
	return x.choose(k.Kind, k.Root, &argument.Parts{Counts: in.Lens, Displs: in.Displs},
		&argument.Parts{Counts: out.Lens, Displs: out.Displs})
}

// AllAnd sets all to the bitwise and of the mine of all ranks, for the function what. It gives the number of the call.
func (v *View) AllAnd(what string, mine, all []byte) (call uint64, err error) {
	k := argument.Description{
		Kind: argument.KindAllreduce, What: what, Elem: signature.ByteElem,
		Operator: argument.Operator{Combiner: argument.And{}, Commutes: true},
		In:       argument.SideOf(mine), Out: argument.SideOf(all),
	}
	x, err := v.beginCall(what, nil, false)
	if err != nil {
		return 0, err
	}
	call = x.call
	return call, x.finishCall(x.setSlices(&k))
}
