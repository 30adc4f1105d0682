package coll

import (
	"errors"
	"sync/atomic"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// Isolate lets collectives go on after one that has failed: that one ends on all ranks, without an effect on later
// ones. Programs in C expect that: they go on after an error. Without it all later collectives of the communicator
// fail. To be called before there are collectives, on all ranks of a job or on none.
func (p *RankState) Isolate() { p.isolated.Store(true) }

// keptDead is how many calls that have failed are known. A rank that is further behind waits in a call that has failed.
const keptDead = 64

// deadCalls are the calls of a communicator that have failed on any rank, by number.
type deadCalls [keptDead]atomic.Pointer[sentinel.CollectiveError]

// getFailed is how a call has failed; nil if it is not known to have.
func (d *deadCalls) getFailed(call uint64) *sentinel.CollectiveError {
	if e := d[call%keptDead].Load(); e != nil && e.Call == call {
		return e
	}
	return nil
}

// addFailed notes that a call has failed, unless that is known, or one after it has that takes its place.
func (d *deadCalls) addFailed(e *sentinel.CollectiveError) bool {
	slot := &d[e.Call%keptDead]
	for {
		old := slot.Load()
		if old != nil && old.Call >= e.Call {
			return false
		}
		if slot.CompareAndSwap(old, e) {
			return true
		}
	}
}

// A rank may have started calls after one that does not wait, when that one fails. The ranks on which it has failed may
// have made no further call, so those calls may wait for ever. They fail, too, and so does what the rank calls next,
// until the program has been told: by the request, or by a call that waits. Then it knows where it stands, and goes on
// with the number of the other ranks, on which the same calls have failed.

// owe notes that a call that did not wait has failed. It ends what has been started after it.
func (st *State) owe(e *CallError, w *fult.Worker) {
	if !st.OfRank.isolated.Load() {
		return
	}
	st.pendingError.Store(e)
	st.listener.Alarm.Complete(w)
	st.stopCalls(w, (*Call).poisoned)
}

// A call may end well on a rank, such as the root of a Bcast, that another rank finds to differ. The rank that has found
// it may make no further call. So the next collective of this rank fails, once. Of other failures the program is not
// told like that: a message that is too long for its receiver is the receiver's affair.

// oweEnded makes the next collective fail if a call has ended well on this rank, and differs on another one. It is
// called when the call has ended, and when the failure is noted. Both may find the other.
func (st *State) oweEnded(call uint64, w *fult.Worker) {
	e := st.dead.getFailed(call)
	if e == nil || !errors.Is(e.Err, sentinel.ErrMismatch) || !st.isolatedEnd(call) || !st.settleFailed(call) {
		return
	}
	st.owe(&CallError{e.Err, st, call, e.Kind, e.Rank}, w)
}

// isolatedEnd tells whether a call has ended on this rank.
func (st *State) isolatedEnd(call uint64) bool {
	return st.OfRank.isolated.Load() && call <= st.state.Load()/2 && !st.isOpen(int(call))
}

// settleFailed notes that the program is told of a call that has failed. It is false if it has been told of that one,
// or of one after it.
func (st *State) settleFailed(call uint64) bool {
	for {
		last := st.settled.Load()
		if call <= last {
			return false
		}
		if st.settled.CompareAndSwap(last, call) {
			return true
		}
	}
}
