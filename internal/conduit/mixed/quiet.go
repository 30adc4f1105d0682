package mixed

import (
	"sync/atomic"

	"github.com/golci/golci/internal/arch"
)

// quiet tells when to leave the far side alone. A look at a socket is a system call, which takes longer than a message does
// between two ranks of a node: were each poll to make one, the traffic of the node would be as slow as the network's. So
// when nothing has come from the far side or gone there for a while, it is looked at now and then only.
type quiet struct {
	dear  bool          // looks cost a system call; fixed
	looks atomic.Uint32 // since the last traffic; not exact when several goroutines look
}

const (
	// soonLooks is how many looks in a row follow far traffic: about the time that an answer takes.
	soonLooks = 256
	// seldomLooks is of how many looks one is taken after that.
	seldomLooks = 128
)

// init is given the conduit's roads. Where a peer and this rank have words for each other they share memory, and looking is
// cheap.
func (q *quiet) init(roads []road) {
	for peer, r := range roads {
		if !r.near && r.Mine(peer) == nil {
			q.dear = true
		}
	}
}

// pass tells whether this look at the far side is to be left out.
func (q *quiet) pass() bool {
	if !q.dear {
		return false
	}
	n := q.looks.Load() + 1
	arch.StoreRel32(&q.looks, n)
	return n > soonLooks && n%seldomLooks != 0
}

// over notes far traffic.
func (q *quiet) over() {
	if q.dear && q.looks.Load() != 0 {
		arch.StoreRel32(&q.looks, 0)
	}
}
