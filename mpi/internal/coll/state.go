package coll

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/progress"
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/contextid"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/rank"
)

// State is what the collectives of a communicator have in common on one rank.
type State struct {
	// state is twice the number of the last call, plus one while that call runs. The caller that sets the low bit owns
	// the fields of the second group until it clears the bit.
	state        atomic.Uint64
	tags         [algorithm.KeptTags]atomic.Uint64        // of the last calls, number above tag; the poller reads them
	poison       atomic.Pointer[sentinel.CollectiveError] // the first call known to have failed on any rank
	reported     atomic.Bool                              // the program has been told of it, or is about to be
	answer       atomic.Pointer[otherCall]                // of a rank that was asked
	longed       atomic.Pointer[string]                   // the function whose call waits long, for reports
	dead         deadCalls                                // where a failed call does not end those after it
	pendingError atomic.Pointer[CallError]                // there: the last error that the program has not been told of
	settled      atomic.Uint64                            // there: the last failed call of which the program is told

	history       algorithm.History // what has been called
	displs        [2][]int          // of a buffer that is read, and of one that is written, where the program gives none
	prepareFrom   uint64            // from this number on a call needs prepare
	leftoverCalls int               // calls after which messages that still wait are looked at; see lookBack
	hinted        bool              // the partners of collectives have been hinted at
	listener      comm.Listener
	waitTimer     *time.Timer        // sets the alarm of a wait that takes long
	names         map[string]*string // of functions whose calls have waited long, for longed
	running       Call               // the one that waits; while it listens, the poller reads tags and ranks
	open          openCalls          // those that do not wait
	shared        shmState           // memory for the calls of ranks of a node

	// Fixed.
	Env
	comm      Communicator                                 // no view
	whole     View                                         // of it
	stopper   func(call uint64, err error, w *fult.Worker) // stopCall, made once
	waits     *rank.Waits                                  // nil without a timeline
	size      int
	numbers   uint8  // how many bits of a number are in a tag
	marks     uint8  // how many bits a mark has
	roundMask uint64 // numbers whose bits under it are 0 begin with a check
}

// NewState makes the state of a communicator on its rank.
func NewState(c Communicator, e Env) *State {
	size := len(e.Peers)
	n := algorithm.NumberBits(size)
	st := &State{
		Env: e, comm: c, size: size, numbers: uint8(n), marks: uint8(algorithm.MarkBits(size)), roundMask: 1<<(n-2) - 1,
	}
	st.whole = View{st, c, nil}
	st.history.BeginHistory(e.OfRank == nil || e.OfRank.Typed)
	st.shared.at = e.firstShm()
	st.running = Call{view: &st.whole, st: st, rank: e.Rank, size: size, alarm: &st.listener.Alarm}
	st.listener.Context = e.Context
	st.listener.Suspect = st.suspect
	if e.OfRank != nil {
		st.waits = e.OfRank.Rank.Waits()
	}
	st.waitTimer = stopped(func() { st.listener.Alarm.Complete(nil) })
	st.open.timer = stopped(st.lookLate)
	st.open.idle.New = st.newOpen
	st.stopper = st.stopCall
	return st
}

// stopped is a timer for f that does not run.
func stopped(f func()) *time.Timer {
	t := time.AfterFunc(time.Hour, f)
	t.Stop()
	return t
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
	alarm     *progress.Done // of the listener; nil for Finalize
	once      bool           // no rank sends another two messages
	peer      int            // the rank for which the current wait waits
	from      int            // peer if that wait is for a receive, else -1
	scratch   *scratch       // that borrow has given last
	panic     any            // what the program's operation has panicked with
	async     *async         // of a call that does not wait; else nil
	openAt    int            // its place in openCalls, under the lock of these
	stop      func() bool    // the end of the view's context is no alarm any more; nil without one

	steps *schedule.Schedule // one of plans
	plans [plansKept]planned
	run   schedule.Run
	reqs  []comm.Req            // of the steps that are under way, by number
	pairs []pair                // of the steps that have been started; they stay where they are until the call ends
	buf   [schedule.Bufs]buffer // the call's
	op    Operator              // of a reduction
	args  datatypeArgs          // the arguments of MPI, if the call has them

	exchange *claimExchange       // nil until the ranks compare what they call
	owed     atomic.Bool          // it fails because a call before it has
	small    [smallScratch]uint64 // memory to work in, if little is needed
}

// beginCall starts a call: one at a time on a communicator. When it returns no error, Finish must be called. With
// later, for a call that does not wait, Launch must be called.
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

// prepareCall is what few calls need.
func (x *Call) prepareCall(typ error) error {
	if !x.st.hinted {
		x.st.hintPartners()
	}
	if err := x.poisoned(); err != nil {
		return err
	}
	if err := contextOver(x.view.until); err != nil {
		return x.gaveUp(err)
	}
	if x.view.until != nil && x.async == nil {
		alarm := &x.st.listener.Alarm
		x.stop = context.AfterFunc(x.view.until, func() { alarm.Complete(nil) })
	}
	if x.call&x.st.roundMask == 0 {
		x.awaitOlder()
		if x.async == nil {
			if err := x.round(); err != nil {
				return err
			}
		}
	}
	if x.call == x.st.shared.at {
		if err := x.makeShm(); err != nil {
			return err
		}
	}
	if err := x.lookBack(); err != nil {
		return err
	}
	x.st.prepareFrom = x.nextChecked()
	if typ != nil {
		return x.view.comm.OpError(x.kind, typ)
	}
	return nil
}

// nextChecked is the number of the next call that needs prepare: a power of two, the first of a round, or the very next
// one while there are doubts.
func (x *Call) nextChecked() uint64 {
	if x.st.leftoverCalls > 0 {
		return x.call + 1
	}
	return min(1<<bits.Len64(x.call), (x.call|x.st.roundMask)+1)
}

// lookBack looks for messages of calls before, now and then: at calls whose number is a power of two. A rank that is
// ahead makes messages wait, too, and the look goes through all that waits. So after the first calls it is made only if
// messages have waited at each of the calls since.
func (x *Call) lookBack() error {
	st := x.st
	if x.call&(x.call-1) == 0 {
		st.leftoverCalls = maxLeftoverCalls
		if x.call <= maxLeftoverCalls {
			st.leftoverCalls = 1
		}
	}
	if st.leftoverCalls == 0 {
		return nil
	}
	if st.leftoverCalls--; !x.st.Server.Unread() {
		st.leftoverCalls = 0
	} else if st.leftoverCalls == 0 {
		return x.leftover()
	}
	return nil
}

// maxLeftoverCalls is at how many calls messages must have waited before they are looked at.
const maxLeftoverCalls = 64

// round comes before the low bits of numbers are used again, four times in their range. It is a barrier, so that no
// rank gets ahead of another by half the range: then a message of an earlier call can be told from one of a later
// call. After it, messages of calls before are looked for. A call that does not wait has the barrier in progress; so
// a rank may start the calls up to the next round before it has passed this one, but not those after it.
func (x *Call) round() error {
	w := x.alg
	x.once = true
	x.alg, x.tag = algorithm.Round, algorithm.MakeTag(x.size, algorithm.Round, 0, x.call)
	x.lastTag = x.tag
	x.meetAll(x.fresh(algorithm.Round))
	err := x.perform()
	x.alg = w
	if err != nil {
		return err
	}
	return x.leftover()
}

// takeAlgorithm sets the way of the call and its root, which determine the tag of its messages. The call sends and
// receives nothing before that.
func (x *Call) takeAlgorithm(w algorithm.Algorithm, root int) {
	x.alg, x.once, x.bytes = w, !w.Repeats(), 0
	x.word = x.wordOf(w, root)
	x.head = x.st.history.HeadOf(x.word)
	x.mark = x.head
	if !x.st.OfRank.InProcess || x.st.OfRank.isolated.Load() {
		// A rank may go on after a failure, of which ranks learn at different calls. Other processes may be programs in C.
		x.mark = algorithm.Stir(1, x.word)
	}
	x.tag = x.tagged(w, root)
	x.lastTag = x.tag
	e := x.call<<algorithm.TagEntryBits | uint64(x.tag)
	if x.async != nil {
		e |= algorithm.TagEntryLater
	}
	arch.StoreRel64(&x.st.tags[x.call%algorithm.KeptTags], e)
}

// tagOf gives the tag of a call, if the rank has got that far in it and has not forgotten it.
func (st *State) tagOf(call uint64) (int, bool) {
	return algorithm.TagIn(st.tags[call%algorithm.KeptTags].Load(), call)
}

// displsRoom gives room for n displacements, of the running call.
func (st *State) displsRoom(n int, written bool) []int {
	d := &st.displs[0]
	if written {
		d = &st.displs[1]
	}
	if cap(*d) < n {
		*d = make([]int, n)
	}
	return (*d)[:n]
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

// poisoned tells whether the call cannot succeed, as this or an earlier one has failed somewhere.
func (x *Call) poisoned() error {
	e := x.st.poison.Load()
	if e != nil && x.st.OfRank.isolated.Load() {
		if e = x.st.dead.getFailed(x.call); e == nil {
			if owed := x.st.pendingError.Load(); owed != nil && owed.call < x.call {
				x.owed.Store(true)
				return x.ofCall(&sentinel.CollectiveError{Rank: owed.rank, Call: owed.call, Kind: owed.kind, Err: owed.error})
			}
		}
	}
	if x.view.comm.Revoked() {
		return x.ofCall(errs.Revoked)
	}
	if e == nil || x.call < e.Call {
		return nil
	}
	x.st.reported.Store(true)
	return x.ofCall(e)
}

// failAll ends the collectives of the communicator on all ranks with err, unless an earlier call has failed.
func (x *Call) failAll(err error) {
	if x.size == 1 || x.call == 0 || x.st.OfRank.Rank.Ended() != nil || errors.Is(err, comm.ErrClosed) {
		return
	}
	x.st.reported.Store(true)
	if x.st.lower(&sentinel.CollectiveError{Rank: x.rank, Call: x.call, Kind: x.kind, Err: err}) {
		x.tellFailure(err)
		x.st.stopCalls(nil, (*Call).poisoned)
	}
}

// lower notes that a call has failed, if none before it is known to have.
func (st *State) lower(e *sentinel.CollectiveError) bool {
	if st.OfRank.isolated.Load() {
		st.poison.Store(e)
		return st.dead.addFailed(e)
	}
	for {
		old := st.poison.Load()
		if old != nil && old.Call <= e.Call {
			return false
		}
		if st.poison.CompareAndSwap(old, e) {
			return true
		}
	}
}

// ChildUID is the uid of the communicator that all ranks make with the i-th of the ids that they have agreed on in their
// call number call. i is at most contextid.SpareTurns.
func (st *State) ChildUID(call, i uint64) uint64 {
	return contextid.Mix(st.UID, call<<contextid.SpareTurns|i)
}
