package mixed

import (
	"sync/atomic"

	"github.com/golci/golci/internal/platform/arch"
)

// farPollFilter decides when a poll leaves out the far side. A look at a socket is a system call, which takes longer
// than a message between two ranks of a node. With one in each poll, traffic of the node would be as slow as the
// network's. So without far traffic for a while, only some polls look at the far side.
type farPollFilter struct {
	costly bool          // looks cost a system call; fixed
	looks  atomic.Uint32 // since the last traffic; not exact when several goroutines look
}

const (
	// soonLooks is the number of looks in a row that follow far traffic: about the time that an answer takes.
	soonLooks = 256
	// seldomLooks: after that, one look in so many is taken.
	seldomLooks = 128
)

// initRoads is given the conduit's routes. A peer and a rank with words for each other share memory, so looking is
// cheap.
func (q *farPollFilter) initRoads(roads []route) {
	for peer, r := range roads {
		if !r.near && r.Mine(peer) == nil {
			q.costly = true
		}
	}
}

// passFar reports whether to leave out this look at the far side.
func (q *farPollFilter) passFar() bool {
	if !q.costly {
		return false
	}
	n := q.looks.Load() + 1
	arch.StoreRel32(&q.looks, n)
	return n > soonLooks && n%seldomLooks != 0
}

// noteFar notes far traffic.
func (q *farPollFilter) noteFar() {
	if q.costly && q.looks.Load() != 0 {
		arch.StoreRel32(&q.looks, 0)
	}
}
