package coll

import (
	"context"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// What the package above asks of the collectives of a communicator.

// View gives what calls are made on: the communicator c, or a view of it whose calls end when until does. A nil until
// never ends.
func (st *State) View(c Communicator, until context.Context) View { return View{st, c, until} }

// Comm is the communicator itself.
func (st *State) Comm() Communicator { return st.comm }

// LastCall is the number of the last call, and Running tells whether that runs.
func (st *State) LastCall() uint64 { return st.state.Load() / 2 }

// Running tells whether a call runs that waits.
func (st *State) Running() bool { return st.state.Load()%2 != 0 }

// Begun tells whether the rank has begun call number call.
func (st *State) Begun(call uint64) bool {
	_, ok := st.tagOf(call)
	return ok
}

// Failure is the first call that is known to have failed; nil if none is.
func (st *State) Failure() *sentinel.CollectiveError { return st.poison.Load() }

// SetLastCall makes the next call number call+1.
func (st *State) SetLastCall(call uint64) { st.state.Store(2 * call) }

// WaitsLong names the function whose call waits long; "" if none does.
func (st *State) WaitsLong() string {
	if name := st.longed.Load(); name != nil {
		return *name
	}
	return ""
}

// EndAll ends all calls, and later ones, with e.
func (st *State) EndAll(e *sentinel.CollectiveError, w *fult.Worker) {
	st.poison.Store(e)
	st.listener.Alarm.Complete(w)
	st.stopCalls(w, (*Call).poisoned)
}

// Isolated tells whether collectives go on after one that has failed.
func (p *RankState) Isolated() bool { return p.isolated.Load() }

// Reported gives the error of the call, and notes that the program gets it.
func (e *CallError) Reported() error {
	e.st.pendingError.CompareAndSwap(e, nil)
	return e.error // it names the collective
}

// TextOf tells, for a message of the communicator's collectives, to which call it belongs.
func (st *State) TextOf(tag int) string {
	return algorithm.CallDetail(st.size, st.CallTag(tag), st.state.Load()/2)
}

// CallTag is the tag of the call that a message belongs to. Where ranks compare what they call, it is another than that
// of the message.
func (st *State) CallTag(tag int) int {
	if algorithm.OfTag(tag) != algorithm.Compare {
		return tag
	}
	last := st.state.Load() / 2
	if algorithm.NumberOfTag(st.size, tag) != algorithm.NumberOfTag(st.size, int(last)) {
		return tag
	}
	if call, ok := st.tagOf(last); ok {
		return call
	}
	return tag
}
