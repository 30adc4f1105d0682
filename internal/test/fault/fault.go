// Package fault wraps a conduit and misbehaves within the contract: it refuses without need, delivers late and out of
// order, wakes for nothing, and cuts peers off. What it does follows from a seed.
package fault

import (
	"sync/atomic"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/spin"
	"github.com/golci/golci/internal/transport/badnet"
)

// Config says how bad it is. The zero value changes nothing.
type Config struct {
	// Seed makes the faults of one rank repeatable, as far as the calls are.
	Seed uint64
	// Refuse is how many of a thousand Reserve and BulkSend calls meet a Retry without cause.
	Refuse int
	// Hold is how many of a thousand records are delivered late, by up to longest polls.
	Hold int
	// Reorder lets later records of the same peer pass a late one; otherwise they wait behind it.
	Reorder bool
	// Startle is how many of a thousand Sleep calls return at once.
	Startle int
}

const (
	longest = 8
	maxHeld = 64 // records at a time; with so many the conduit inside is not polled
)

// Conduit is the wrapper.
type Conduit struct {
	conduit.Conduit
	cfg   Config
	send  []badnet.Dice // by peer, under the caller's lock for Reserve
	bulk  []badnet.Dice // by peer, under the caller's lock for BulkSend
	cut   []atomic.Bool
	fails conduit.Failures // peers that were cut, and those that the conduit inside has told of
	late  atomic.Int64     // records held; for Pending

	sleeping spin.Lock // guards sleep
	sleep    badnet.Dice

	// The poller's own.
	dice   badnet.Dice
	tick   time.Duration // polls
	held   badnet.Queue[record]
	behind []lateness // by source
	memory badnet.Buffers
	sink   conduit.Sink
	gave   int // to sink, in the Poll under way
}

type record struct {
	src int
	rec []byte
}

// lateness is of the records of a source that are held.
type lateness struct {
	n    int
	last time.Duration // when the last of them may go
}

// hits throws dice for a fault that happens to so many of a thousand.
func hits(d *badnet.Dice, perMille int) bool { return d.Hit(float64(perMille) / 1000) }

// New wraps c. Caps tell of what the faults take away: Ordered with Reorder, the guarantee of Loan with Refuse.
func New(c conduit.Conduit, cfg Config) *Conduit {
	n := c.Size()
	w := &Conduit{
		Conduit: c, cfg: cfg, send: make([]badnet.Dice, n), bulk: make([]badnet.Dice, n), behind: make([]lateness, n),
		cut: make([]atomic.Bool, n),
	}
	w.fails.Init(n)
	seed := cfg.Seed ^ uint64(c.Rank())<<32
	w.dice, w.sleep = badnet.NewDice(seed, 1), badnet.NewDice(seed, 2)
	for i := range n {
		w.send[i], w.bulk[i] = badnet.NewDice(seed, 3+2*uint64(i)), badnet.NewDice(seed, 4+2*uint64(i))
	}
	return w
}

// Allocates tells that late records are copied to the heap.
func (c *Conduit) Allocates() bool { return true }

func (c *Conduit) Caps() conduit.Caps {
	caps := c.Conduit.Caps()
	caps.Name += "+fault"
	caps.Ordered = caps.Ordered && !c.cfg.Reorder
	if c.cfg.Refuse > 0 {
		caps.Loan = 0
	}
	return caps
}

// Cut makes peer look dead from now on: sends to it are refused and what comes from it is dropped.
func (c *Conduit) Cut(peer int) {
	if uint(peer) >= uint(len(c.cut)) {
		return
	}
	c.cut[peer].Store(true)
	c.fails.Add(peer, conduit.ErrPeerDied, "cut off by fault injection")
	c.Wake()
}

func (c *Conduit) isCut(peer int) bool { return uint(peer) < uint(len(c.cut)) && c.cut[peer].Load() }

func (c *Conduit) Failed(peer int) error {
	if c.isCut(peer) {
		return c.fails.Failed(peer)
	}
	return c.Conduit.Failed(peer)
}

func (c *Conduit) Reserve(peer int, class conduit.Class, n int) ([]byte, conduit.Status) {
	if c.isCut(peer) {
		return nil, conduit.Dead
	}
	if c.possible(peer, n) && hits(&c.send[peer], c.cfg.Refuse) {
		return nil, conduit.Retry
	}
	return c.Conduit.Reserve(peer, class, n)
}

// possible tells whether n bytes for peer can ever be reserved: what cannot is not refused but Dead.
func (c *Conduit) possible(peer, n int) bool {
	return uint(peer) < uint(len(c.send)) && n >= conduit.WordBytes && n <= c.Conduit.Caps().MaxRecord && c.Failed(peer) == nil
}

func (c *Conduit) BulkSend(peer int, id uint64, off int64, data []byte, keep conduit.Completion) (n int, kept bool) {
	if c.isCut(peer) {
		return -1, false
	}
	if c.refusesBulk(peer) {
		return 0, false
	}
	return c.Conduit.BulkSend(peer, id, off, data, keep)
}

func (c *Conduit) refusesBulk(peer int) bool {
	return uint(peer) < uint(len(c.bulk)) && c.Failed(peer) == nil && hits(&c.bulk[peer], c.cfg.Refuse)
}

func (c *Conduit) BulkReserve(peer, n int) ([]byte, conduit.Status) {
	if c.isCut(peer) {
		return nil, conduit.Dead
	}
	if c.refusesBulk(peer) {
		return nil, conduit.Retry
	}
	return c.Conduit.BulkReserve(peer, n)
}

func (c *Conduit) Poll(budget int, sink conduit.Sink) int {
	if c.closed() {
		c.drop()
		return 0
	}
	c.tick++
	c.sink, c.gave = sink, 0
	c.release(budget)
	if room := min(budget-c.gave, maxHeld-c.held.Len()); room > 0 {
		c.Conduit.Poll(room, (*holding)(c))
	}
	c.sink = nil
	if c.fails.News() == conduit.PeerGone {
		c.fails.Tell(sink, c.over)
	}
	return c.gave
}

// over tells whether nothing of peer, which has failed, is held. The poller calls it.
func (c *Conduit) over(peer int) bool { return c.behind[peer].n == 0 }

func (c *Conduit) closed() bool { return c.fails.News() == conduit.OwnEnd }

// drop forgets what is held. The poller calls it.
func (c *Conduit) drop() {
	c.held = badnet.Queue[record]{}
	clear(c.behind)
	c.late.Store(0)
}

// release delivers held records whose time has come. The poller calls it.
func (c *Conduit) release(budget int) {
	for c.gave < budget {
		r, _, ok := c.held.Pop(c.tick)
		if !ok {
			break
		}
		c.behind[r.src].n--
		c.give(r.src, r.rec)
		c.memory.Free(r.rec)
	}
	c.late.Store(int64(c.held.Len()))
}

func (c *Conduit) give(src int, rec []byte) {
	if !c.isCut(src) {
		c.gave++
		c.sink.Record(src, rec)
	}
}

// holding is the sink between the conduit inside and the caller's.
type holding Conduit

func (h *holding) Record(src int, rec []byte) {
	c := (*Conduit)(h)
	b := &c.behind[src]
	waits := !c.cfg.Reorder && b.n > 0
	if !waits && !hits(&c.dice, c.cfg.Hold) {
		c.give(src, rec)
		return
	}
	due := c.tick + 1 + time.Duration(c.dice.Uint64()%longest)
	if waits {
		due = max(due, b.last)
	}
	b.n++
	b.last = due
	c.held.Push(due, record{src, c.memory.Copy(rec)})
	c.late.Store(int64(c.held.Len()))
}

func (h *holding) Bulk(src int, id uint64, off int64, chunk []byte) {
	c := (*Conduit)(h)
	if !c.isCut(src) {
		c.gave++
		c.sink.Bulk(src, id, off, chunk)
	}
}

// Gone implements conduit.Sink. What is held of the peer goes first.
func (h *holding) Gone(peer int, err error) {
	reason := err.(*conduit.PeerError)
	h.fails.Add(peer, reason.Err, reason.Detail)
}

func (c *Conduit) Pending() bool {
	news := c.fails.News()
	return news == conduit.PeerGone || news == conduit.NoNews && c.late.Load() > 0 || c.Conduit.Pending()
}

func (c *Conduit) Sleep(d time.Duration, ready func() bool) bool {
	if c.startled() {
		d = 0
	}
	return c.Conduit.Sleep(d, func() bool {
		return (ready != nil && ready()) || (c.late.Load() > 0 || c.fails.News() == conduit.PeerGone) && !c.closed()
	})
}

func (c *Conduit) startled() bool {
	c.sleeping.Lock()
	defer c.sleeping.Unlock()
	return hits(&c.sleep, c.cfg.Startle)
}

func (c *Conduit) Close() error {
	c.fails.Close()
	return c.Conduit.Close()
}
