package portals

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/futex"
)

// Conduit is one rank's end. It has no goroutine of its own.
type Conduit struct {
	// Fixed.
	rank  int
	g     *geometry
	seg   *segment
	all   []*Conduit // of the job, by rank; nil where the rank is not in this process
	sleep sleep

	lanes  []lane // by peer
	purse  purse
	poll   poller
	closed atomic.Bool
	asleep atomic.Bool // somebody is in Sleep

	full     [queues]atomic.Uint64 // refusals for want of room at the peer, by queue
	overflow atomic.Uint64         // requests that found no room here

	// mu guards reasons; a lane's gone is set after its reason.
	mu      sync.Mutex
	reasons map[int]*conduit.PeerError
}

// lane is the way to one peer. It takes 32 bytes, and 8 more at the peer.
type lane struct {
	// Under the caller's lock for Reserve; n is 0 if nothing is reserved, otherwise the bytes reserved, a multiple of 8, plus the
	// queue.
	place
	n uint32
	// gone is not 0 when the peer is out of reach; set once.
	gone atomic.Uint32
	// sent is the cost of all records committed: written under the caller's lock, read by harvest.
	sent atomic.Uint64
	seen uint64 // of sent, what has come back. Under purse.gather
}

func (ln *lane) length() int { return int(ln.n &^ 7) }
func (ln *lane) queue() int  { return int(ln.n & 7) }

// New returns the conduits of n ranks that share this process, by rank; each is a *Conduit. The error matches
// conduit.ErrConfig. When a rank closes its conduit, the others find it closed.
func New(n int, cfg Config) ([]conduit.Conduit, error) {
	present := make([]int, max(n, 0))
	for i := range present {
		present[i] = i
	}
	return newRanks(n, present, cfg)
}

// newRanks makes only some ranks of a job; the others cannot be reached.
func newRanks(n int, present []int, cfg Config) ([]conduit.Conduit, error) {
	g, err := newGeometry(n, cfg)
	if err != nil {
		return nil, err
	}
	fence := futex.RegisterMembarrier()
	all := make([]*Conduit, n)
	for _, r := range present {
		all[r] = newConduit(r, g, fence)
	}
	out := make([]conduit.Conduit, 0, len(present))
	for _, r := range present {
		all[r].all = all
		out = append(out, all[r])
	}
	return out, nil
}

func newConduit(rank int, g *geometry, fence bool) *Conduit {
	c := &Conduit{
		rank: rank, g: g, seg: newSegment(g), sleep: newSleep(fence), lanes: make([]lane, g.ranks),
		reasons: map[int]*conduit.PeerError{},
	}
	c.purse.active = make([]atomic.Uint64, ceil(g.ranks, 64))
	c.purse.free.Store(uint64(ticket*cost(g.tickets) + requestChunk*cost(g.requests) + replyChunk*cost(g.reply)))
	c.poll.init(c)
	return c
}

// Rank implements conduit.Conduit.
func (c *Conduit) Rank() int { return c.rank }

// Size implements conduit.Conduit.
func (c *Conduit) Size() int { return c.g.ranks }

// Caps implements conduit.Conduit. Loan is what each rank has room for; a sender that keeps to it can still be told Retry when
// its own tickets or chunks are out.
func (c *Conduit) Caps() conduit.Caps { return c.g.caps() }

// Mine implements conduit.Conduit: there are no such words.
func (c *Conduit) Mine(int) *atomic.Uint64 { return nil }

// Theirs implements conduit.Conduit: there are no such words.
func (c *Conduit) Theirs(int) *atomic.Uint64 { return nil }

// BulkSend implements conduit.Conduit: there is no bulk channel.
func (c *Conduit) BulkSend(peer int, _ uint64, _ int64, _ []byte) int {
	if c.to(peer) == nil {
		return -1
	}
	return 0
}

// to is the peer's end, nil if nothing can be sent to it.
func (c *Conduit) to(peer int) *Conduit {
	if uint(peer) >= uint(len(c.all)) || c.closed.Load() || c.lanes[peer].gone.Load() != 0 {
		return nil
	}
	return c.all[peer]
}

// Failed implements conduit.Conduit.
func (c *Conduit) Failed(peer int) error {
	switch {
	case uint(peer) >= uint(len(c.all)):
		return &conduit.PeerError{Peer: peer, Err: conduit.ErrUnreachable, Detail: fmt.Sprintf("job of %d ranks", c.g.ranks)}
	case c.lanes[peer].gone.Load() != 0:
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.reasons[peer]
	case c.closed.Load():
		return &conduit.PeerError{Peer: peer, Err: conduit.ErrClosed}
	case c.all[peer] == nil:
		return &conduit.PeerError{Peer: peer, Err: conduit.ErrUnreachable, Detail: "not a rank of this process"}
	}
	return nil
}

// fail makes peer unreachable; the first reason stays. What the peer has committed is served all the same.
func (c *Conduit) fail(peer int, reason error, detail string) {
	c.mu.Lock()
	if c.reasons[peer] == nil {
		c.reasons[peer] = &conduit.PeerError{Peer: peer, Err: reason, Detail: detail}
	}
	c.mu.Unlock()
	c.lanes[peer].gone.Store(1)
	c.Wake()
}

// Close implements conduit.Conduit.
func (c *Conduit) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	for _, other := range c.all {
		if other != nil && other != c {
			other.fail(c.rank, conduit.ErrPeerClosed, "")
		}
	}
	c.Wake()
	for !c.poll.lock.TryLock() {
		time.Sleep(10 * time.Microsecond)
	}
	c.poll.lock.Unlock()
	return nil
}
