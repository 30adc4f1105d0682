// Package epoch has the rules of one-sided epochs (MPI 12.5): which call a rank may make on a window, and when. It
// knows the state of one rank only, and moves no data.
package epoch

// Call is a call on a window, or an access to it.
type Call uint8

// Calls. Test is Wait once it has found the epoch complete; before, only Check is asked.
const (
	Fence Call = iota
	Start
	Complete
	Post
	Wait
	Lock
	Unlock
	LockAll
	UnlockAll
	Flush     // Win_flush and Win_flush_local
	FlushAll  // Win_flush_all and Win_flush_local_all
	Sync      // Win_sync
	Access    // put, get, accumulate and others without a request
	AccessReq // those with a request, such as Rput
	Free
	calls
)

var names = [...]string{
	"fence", "start", "complete", "post", "wait", "lock", "unlock", "lock_all", "unlock_all", "flush", "flush_all", "sync",
	"access", "access with a request", "free",
}

// String is the name of the call.
func (c Call) String() string {
	if c < calls {
		return names[c]
	}
	return "unknown call"
}

// State is the epoch that a rank is in as an origin of accesses.
type State uint8

// States. A fence may open an epoch, of access and of exposure alike. Only the next call tells: an access does, a
// call that opens an epoch of another kind says that there was none.
const (
	None    State = iota
	Fenced        // a fence has been called, and no access made since
	Within        // accesses have been made after a fence
	Started       // to the group of start
	Locked        // one or more targets are locked
	All           // all targets are locked
	states
)

// String is the name of the state in the tables.
func (s State) String() string {
	return [...]string{"none", "fenced", "within", "started", "locked", "all"}[s]
}

// in is a set of states.
type in uint8

func set(states ...State) (s in) {
	for _, state := range states {
		s |= 1 << state
	}
	return s
}

func (s in) hasState(state State) bool { return s>>state&1 != 0 }

// posted is what a call asks of the exposure epoch that post opens.
type posted uint8

const (
	either posted = iota
	open
	closed
)

// rule says when a call is allowed.
type rule struct {
	in     in
	posted posted
	asks   ask
	assert Assert // assertions that the call may be given
}

// ask is what a call asks of its target besides.
type ask uint8

const (
	nothing   ask = iota
	reachable     // an epoch to that target, if state tells targets apart
	unlocked      // the target is not locked, and it is not this rank while the window is posted
	held          // the target is locked
	private       // this rank's own window is not locked
)

var (
	passive = set(Locked, All)
	anyway  = set(None, Fenced, Within, Started, Locked, All)
)

// rules is the table. What it forbids is an error of class RMA_SYNC.
var rules = [calls]rule{
	Fence:     {set(None, Fenced, Within), closed, nothing, NoStore | NoPut | NoPrecede | NoSucceed},
	Start:     {set(None, Fenced), either, nothing, NoCheck},
	Complete:  {set(Started), either, nothing, 0},
	Post:      {set(None, Fenced, Started, Locked, All), closed, private, NoCheck | NoStore | NoPut},
	Wait:      {anyway, open, nothing, 0},
	Lock:      {set(None, Fenced, Locked), either, unlocked, NoCheck},
	Unlock:    {set(Locked), either, held, 0},
	LockAll:   {set(None, Fenced), closed, nothing, NoCheck},
	UnlockAll: {set(All), either, nothing, 0},
	Flush:     {passive, either, reachable, 0},
	FlushAll:  {passive, either, nothing, 0},
	Sync:      {passive, either, nothing, 0},
	Access:    {set(Fenced, Within, Started, Locked, All), either, reachable, 0},
	AccessReq: {passive, either, reachable, 0},
	Free:      {set(None, Fenced), closed, nothing, 0},
}
