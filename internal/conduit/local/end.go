package local

import (
	"sync/atomic"
	"time"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/conduit/ring"
)

// end is one rank's conduit. Its methods are written out, not promoted from an embedded endpoint. The compiler makes
// promoted methods jump to their targets, and the race detector then repeats the same frame.
type end struct {
	ring    *ring.Endpoint
	all     []*end // of the job, by rank; fixed before New returns
	exposed exposed
	lost    []atomic.Bool // by rank: set by whoever closes
}

// Rank implements conduit.Conduit.
func (e *end) Rank() int { return e.ring.Rank() }

// Size implements conduit.Conduit.
func (e *end) Size() int { return e.ring.Size() }

// Caps implements conduit.Conduit.
func (e *end) Caps() conduit.Caps { return e.ring.Caps() }

// Reserve implements conduit.Conduit.
func (e *end) Reserve(peer int, class conduit.Class, n int) ([]byte, conduit.Status) {
	return e.ring.Reserve(peer, class, n)
}

// Commit implements conduit.Conduit.
func (e *end) Commit(peer int, first uint64) { e.ring.Commit(peer, first) }

// Poll implements conduit.Conduit.
func (e *end) Poll(budget int, sink conduit.Sink) int { return e.ring.Poll(budget, sink) }

// BulkSend implements conduit.Conduit.
func (e *end) BulkSend(peer int, id uint64, off int64, data []byte, keep conduit.Completion) (n int, kept bool) {
	return e.ring.BulkSend(peer, id, off, data, keep)
}

// BulkReserve implements conduit.Conduit.
func (e *end) BulkReserve(peer, n int) ([]byte, conduit.Status) { return e.ring.BulkReserve(peer, n) }

// BulkCommit implements conduit.Conduit.
func (e *end) BulkCommit(peer int, id uint64, off int64, n int) { e.ring.BulkCommit(peer, id, off, n) }

// Mine implements conduit.Conduit.
func (e *end) Mine(peer int) *atomic.Uint64 { return e.ring.Mine(peer) }

// Theirs implements conduit.Conduit.
func (e *end) Theirs(peer int) *atomic.Uint64 { return e.ring.Theirs(peer) }

// Pending implements conduit.Conduit.
func (e *end) Pending() bool { return e.ring.Pending() }

// Next implements conduit.Taker.
func (e *end) Next(src int) bool { return e.ring.Next(src) }

// Take implements conduit.Taker.
func (e *end) Take(src int, a conduit.Acceptor) bool { return e.ring.Take(src, a) }

// Sleep implements conduit.Conduit.
func (e *end) Sleep(d time.Duration, ready func() bool) bool { return e.ring.Sleep(d, ready) }

// Wake implements conduit.Conduit.
func (e *end) Wake() { e.ring.Wake() }

// Failed implements conduit.Conduit.
func (e *end) Failed(peer int) error { return e.ring.Failed(peer) }

// Close implements conduit.Conduit.
func (e *end) Close() error {
	err := e.ring.Close()
	e.exposed.close()
	for _, other := range e.all {
		if other != e {
			other.ring.Fail(e.Rank(), conduit.ErrPeerClosed, "")
		}
		other.lost[e.Rank()].Store(true)
		e.lost[other.Rank()].Store(true)
	}
	return err
}
