package coll

import (
	"errors"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/sentinel"
)

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
