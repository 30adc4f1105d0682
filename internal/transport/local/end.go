package local

import (
	"sync/atomic"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/ring"
)

// rankMemory is one rank's ring.Memory: what its peers reach, and the way to theirs.
type rankMemory struct {
	ring    *ring.Endpoint
	all     []*rankMemory // of the job, by rank; fixed before New returns
	open    *atomic.Int32 // ranks of the job that have not closed theirs
	segment memory        // the ring segment of this rank; unmapped when no rank of the job can be reached
	exposed exposed
	lost    []atomic.Bool // by rank: set by whoever closes
}

// Close tells the peers. The last rank gives the memory of all back.
func (e *rankMemory) Close() error {
	e.exposed.closeAll()
	own := e.ring.Rank()
	for peer, other := range e.all {
		if other != e {
			other.ring.Fail(own, conduit.ErrPeerClosed, "")
		}
		other.lost[own].Store(true)
		e.lost[peer].Store(true)
	}
	if e.open.Add(-1) == 0 {
		for _, other := range e.all {
			other.segment.discard()
		}
	}
	return nil
}
