package coll

import (
	"sync/atomic"
	"time"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/contextid"
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

// tagOf gives the tag of a call, if the rank has got that far in it and has not forgotten it.
func (st *State) tagOf(call uint64) (int, bool) {
	return algorithm.TagIn(st.tags[call%algorithm.KeptTags].Load(), call)
}

// ChildUID is the uid of a communicator that all ranks make, with the i-th of the ids that they have agreed on in
// their call number call. i is at most contextid.SpareTurns.
func (st *State) ChildUID(call, i uint64) uint64 {
	return contextid.Mix(st.UID, call<<contextid.SpareTurns|i)
}
