// Package args has the arguments of collective calls (MPI chapter 6 and 8.6): which ones matter on which rank, and what
// may be wrong with them.
package args

// Call is a collective call, in its blocking, nonblocking and persistent forms alike.
type Call uint8

// Calls.
const (
	Barrier Call = iota
	Bcast
	Gather
	Gatherv
	Scatter
	Scatterv
	Allgather
	Allgatherv
	Alltoall
	Alltoallv
	Alltoallw
	Reduce
	Allreduce
	ReduceScatterBlock
	ReduceScatter
	Scan
	Exscan
	NeighborAllgather
	NeighborAllgatherv
	NeighborAlltoall
	NeighborAlltoallv
	NeighborAlltoallw
	calls
)

// Side is one of the two buffers of a call, with its counts, types and displacements. Of Bcast the buffer is Send at
// the root and Recv elsewhere.
type Side uint8

// Sides, as a set.
const (
	Send Side = 1 << iota
	Recv
	both = Send | Recv
)

// flow is where the data of a call go.
type flow uint8

const (
	nowhere  flow = iota
	among         // from all to all
	toRoot        // from all to the root
	fromRoot      // from the root to all
	outOf         // from the root to all others
)

// row describes a call.
type row struct {
	name    string
	flow    flow
	lists   Side // sides with a count and a displacement for each rank
	types   bool // also a type for each rank
	reduces bool // it has an operation, and one count and type for both sides
	inPlace Side // the side whose buffer may be MPI_IN_PLACE, on the root if there is one
	noInter bool // not on intercommunicators
}

// rows is the table.
var rows = [calls]row{
	Barrier:            {"Barrier", nowhere, 0, false, false, 0, false},
	Bcast:              {"Bcast", outOf, 0, false, false, 0, false},
	Gather:             {"Gather", toRoot, 0, false, false, Send, false},
	Gatherv:            {"Gatherv", toRoot, Recv, false, false, Send, false},
	Scatter:            {"Scatter", fromRoot, 0, false, false, Recv, false},
	Scatterv:           {"Scatterv", fromRoot, Send, false, false, Recv, false},
	Allgather:          {"Allgather", among, 0, false, false, Send, false},
	Allgatherv:         {"Allgatherv", among, Recv, false, false, Send, false},
	Alltoall:           {"Alltoall", among, 0, false, false, Send, false},
	Alltoallv:          {"Alltoallv", among, both, false, false, Send, false},
	Alltoallw:          {"Alltoallw", among, both, true, false, Send, false},
	Reduce:             {"Reduce", toRoot, 0, false, true, Send, false},
	Allreduce:          {"Allreduce", among, 0, false, true, Send, false},
	ReduceScatterBlock: {"Reduce_scatter_block", among, 0, false, true, Send, false},
	ReduceScatter:      {"Reduce_scatter", among, 0, false, true, Send, false},
	Scan:               {"Scan", among, 0, false, true, Send, true},
	Exscan:             {"Exscan", among, 0, false, true, Send, true},
	NeighborAllgather:  {"Neighbor_allgather", among, 0, false, false, 0, true},
	NeighborAllgatherv: {"Neighbor_allgatherv", among, Recv, false, false, 0, true},
	NeighborAlltoall:   {"Neighbor_alltoall", among, 0, false, false, 0, true},
	NeighborAlltoallv:  {"Neighbor_alltoallv", among, both, false, false, 0, true},
	NeighborAlltoallw:  {"Neighbor_alltoallw", among, both, true, false, 0, true},
}

// String is the standard's name of the call without MPI_.
func (c Call) String() string {
	if c < calls {
		return rows[c].name
	}
	return "unknown call"
}

// Rooted tells whether the call has a root.
func (c Call) Rooted() bool { return rows[c].flow >= toRoot }

// Reduces tells whether the call has an operation.
func (c Call) Reduces() bool { return rows[c].reduces }

// neighborly tells whether the call is among neighbours, of whom there may be none.
func (c Call) neighborly() bool { return c >= NeighborAllgather }

// Role is what a rank is in a call.
type Role uint8

// Roles.
const (
	Peer   Role = iota // of a call without root, or not the root
	Root               // in its own communicator
	Origin             // the root in an intercommunicator: MPI_ROOT
	Idle               // of the root's group there: MPI_PROC_NULL
	Far                // of the other group; in calls without root, any rank of an intercommunicator
)

// Sides is which sides matter for a rank. inPlace says that the buffer that may be MPI_IN_PLACE is.
func (c Call) Sides(r Role, inPlace bool) Side {
	s := rows[c].flow.sides(r)
	if inPlace {
		s &^= rows[c].inPlace
	}
	return s
}

func (f flow) sides(r Role) Side {
	if f == among {
		return both
	}
	out, in := Side(0), Side(0) // of the root, and of others
	switch f {
	case toRoot:
		out, in = Recv, Send
	case fromRoot, outOf:
		out, in = Send, Recv
	}
	switch {
	case r == Root && f != outOf:
		return out | in // the root is one of all
	case r == Root || r == Origin:
		return out
	case r == Idle:
		return 0
	}
	return in
}
