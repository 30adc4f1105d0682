// Package reqkind has the kinds of requests of MPI (3.7, 3.9, 4.2, 6.12, 13.2), and what may be done with each and
// when.
package reqkind

// Kind is the kind of a request.
type Kind uint8

// Kinds of requests.
const (
	PointToPoint   Kind = iota // send or receive, of any mode
	Collective                 // nonblocking collective call
	Persistent                 // send or receive
	PersistentColl             // collective call
	PartitionedOut             // partitioned send
	PartitionedIn              // partitioned receive
	Generalized                // ended by the program
	OneSided                   // such as Rput
	kinds
)

// String is the name of the kind.
func (k Kind) String() string {
	return [...]string{
		"point to point", "collective", "persistent", "persistent collective", "partitioned send", "partitioned receive",
		"generalized", "one-sided",
	}[k]
}

// isPersistent tells that the request becomes inactive instead of null when its operation is done, and can be started
// again.
func (k Kind) isPersistent() bool { return rows[k].lasts }

// State is the state of a request.
type State uint8

// States of requests.
const (
	Inactive State = iota
	Active
	Done     // the operation has ended; no completing call has seen it
	Detached // freed, and the operation goes on
	Null
	states
)

// String is the name of the state.
func (s State) String() string {
	return [...]string{"inactive", "active", "done", "detached", "null"}[s]
}

// Call is a call with a request, or what happens to it.
type Call uint8

// Calls.
const (
	Start    Call = iota // MPI_Start, MPI_Startall
	Complete             // wait, test and their like have found it to be done, inactive or null
	Free                 // MPI_Request_free
	Cancel               // MPI_Cancel
	Pready               // MPI_Pready and its like
	Parrived             // MPI_Parrived
	EndGen               // MPI_Grequest_complete
	Ended                // the operation has ended; no call of a program
	calls
)

// String is the name of the call.
func (c Call) String() string {
	return [...]string{"start", "complete", "free", "cancel", "pready", "parrived", "end", "ended"}[c]
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

// row says in which states a call is allowed for a kind.
type row struct {
	lasts bool
	may   [calls]in
}

var (
	never   in
	seen    = set(Inactive, Done, Null)
	running = set(Active, Detached)
	always  = set(Inactive, Active, Done)
	arrives = set(Inactive, Active, Done, Null) // MPI_Parrived says yes of what is not active
)

// rows is the table. What it forbids is an error of class REQUEST.
//
//	start          complete free         cancel             pready       parrived end   ended
var rows = [kinds]row{
	PointToPoint:   {false, [calls]in{never, seen, always, set(Active, Done), never, never, never, running}},
	Collective:     {false, [calls]in{never, seen, never, never, never, never, never, running}},
	Persistent:     {true, [calls]in{set(Inactive), seen, always, set(Active, Done), never, never, never, running}},
	PersistentColl: {true, [calls]in{set(Inactive), seen, set(Inactive), never, never, never, never, running}},
	PartitionedOut: {true, [calls]in{set(Inactive), seen, set(Inactive), never, set(Active), never, never, running}},
	PartitionedIn:  {true, [calls]in{set(Inactive), seen, set(Inactive), never, never, arrives, never, running}},
	Generalized:    {false, [calls]in{never, seen, always, set(Active, Done), never, never, running, never}},
	OneSided:       {false, [calls]in{never, seen, always, never, never, never, never, running}},
}
