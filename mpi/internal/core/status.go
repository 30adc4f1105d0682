package core

import (
	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/coll/argument"
)

// Special values of ranks, tags and colours, as in the ABI of MPI 5.0.
const (
	AnySource = comm.AnySource
	AnyTag    = comm.AnyTag
	ProcNull  = argument.ProcNull
	Undefined = -32766

	// TagUB is the largest tag.
	TagUB = comm.MaxTag
)

// Status tells what a receive or probe got.
type Status struct {
	Source    int // rank of the sender in the communicator
	Tag       int
	Bytes     int64
	Cancelled bool
}

// empty is the status of what is not a receive, and of null requests.
var empty = Status{Source: AnySource, Tag: AnyTag}

// nullStatus is the status of a receive from the null process.
var nullStatus = Status{Source: ProcNull, Tag: AnyTag}

// status translates what the server knows by world ranks. source is what the receive asked for.
func (c *Comm) status(st comm.Status, source int) Status {
	s := Status{Source: st.Source, Tag: st.Tag, Bytes: st.Bytes, Cancelled: st.Cancelled}
	if source != AnySource {
		s.Source = source
	} else {
		s.Source = c.rankOf(st.Source)
	}
	return s
}
