package portals

import (
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
	fails  conduit.Failures
	asleep atomic.Bool // somebody is in Sleep

	full     [queues]atomic.Uint64 // refusals for want of room at the peer, by queue
	overflow atomic.Uint64         // requests that found no room here
}

// lane is the way to one peer. It takes 32 bytes, and 8 more at the peer.
type lane struct {
	// Under the caller's lock for Reserve; n is 0 if nothing is reserved, otherwise the bytes reserved, a multiple of 8, plus the
	// queue.
	place
	n uint32
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
	}
	c.fails.Init(g.ranks)
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
	if uint(peer) >= uint(len(c.all)) || c.fails.Has(peer) {
		return nil
	}
	return c.all[peer]
}

// Failed implements conduit.Conduit.
func (c *Conduit) Failed(peer int) error {
	if err := c.fails.Failed(peer); err != nil || c.all[peer] != nil {
		return err
	}
	return &conduit.PeerError{Peer: peer, Err: conduit.ErrUnreachable, Detail: "not a rank of this process"}
}

// fail makes peer unreachable; the first reason stays. What the peer has committed is served all the same.
func (c *Conduit) fail(peer int, reason error, detail string) {
	c.fails.Add(peer, reason, detail)
	c.Wake()
}

// over tells whether all that peer has committed was served. Under the poll lock.
func (c *Conduit) over(peer int) bool {
	for _, t := range c.poll.takers {
		if t.holds(peer) {
			return false
		}
	}
	return true
}

func (c *Conduit) closed() bool { return c.fails.News() == conduit.OwnEnd }

// Close implements conduit.Conduit.
func (c *Conduit) Close() error {
	if !c.fails.Close() {
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
