// Package stat wraps a conduit and counts what passes through it. A counter costs a load and a store.
package stat

import (
	"sync/atomic"
	"time"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/arch"
	"github.com/golci/golci/internal/spin"
)

// Peer is what was counted towards and from one peer.
type Peer struct {
	// Sent and SentBytes are records committed, by class, and their bytes.
	Sent, SentBytes [3]uint64
	// Refused counts Reserve calls that met no room, by class.
	Refused [3]uint64
	// BulkSent counts bytes put into the bulk channel, BulkFull the calls that found no free slot.
	BulkSent, BulkFull uint64
	// Received and ReceivedBytes are records delivered, and their bytes.
	Received, ReceivedBytes uint64
	// BulkChunks and BulkReceived are chunks delivered, and their bytes.
	BulkChunks, BulkReceived uint64
}

// Snapshot is the state of all counters. Each is exact; together they are only as consistent as the traffic allows.
type Snapshot struct {
	// Peers is indexed by rank.
	Peers []Peer
	// Polls counts Poll calls, Empty those that delivered nothing, Busy those that met another poller.
	Polls, Empty, Busy uint64
	// Sleeps counts Sleep calls that were let in, Slept the time spent in them.
	Sleeps uint64
	Slept  time.Duration
	// Wakes counts Wake calls.
	Wakes uint64
}

// sending is written under the caller's lock for Reserve and Commit.
type sending struct {
	sent, bytes, refused [3]atomic.Uint64
	class                conduit.Class
	open                 bool // between Reserve and Commit
	_                    [48]byte
}

// bulking is written under the caller's lock for BulkSend.
type bulking struct {
	sent, full atomic.Uint64
	_          [48]byte
}

// receiving is written under the poll lock.
type receiving struct {
	recs, bytes, chunks, bulk atomic.Uint64
	_                         [32]byte
}

// Conduit counts. Its methods are those of the conduit inside.
type Conduit struct {
	conduit.Conduit
	send []sending
	bulk []bulking
	recv []receiving

	poll spin.Lock
	sink conduit.Sink // of the Poll under way; under poll

	polls, empty, busy, sleeps, slept, wakes atomic.Uint64
}

// New wraps c.
func New(c conduit.Conduit) *Conduit {
	n := c.Size()
	return &Conduit{Conduit: c, send: make([]sending, n), bulk: make([]bulking, n), recv: make([]receiving, n)}
}

// add is an addition for a counter with one writer at a time; a release store keeps readers from seeing it torn or
// early, and costs less than an exchange.
func add(c *atomic.Uint64, n int) { arch.StoreRel64(c, c.Load()+uint64(n)) }

// Reserve implements conduit.Conduit.
func (c *Conduit) Reserve(peer int, class conduit.Class, n int) ([]byte, conduit.Status) {
	space, st := c.Conduit.Reserve(peer, class, n)
	if st == conduit.Dead || uint(peer) >= uint(len(c.send)) || class > conduit.System {
		return space, st
	}
	s := &c.send[peer]
	if st == conduit.OK {
		s.class, s.open = class, true
	} else {
		add(&s.refused[class], 1)
	}
	return space, st
}

// Commit implements conduit.Conduit.
func (c *Conduit) Commit(peer int, first uint64) {
	if uint(peer) < uint(len(c.send)) {
		if s := &c.send[peer]; s.open {
			s.open = false
			add(&s.sent[s.class], 1)
			add(&s.bytes[s.class], int(uint32(first)))
		}
	}
	c.Conduit.Commit(peer, first)
}

// BulkSend implements conduit.Conduit.
func (c *Conduit) BulkSend(peer int, id uint64, off int64, data []byte) int {
	n := c.Conduit.BulkSend(peer, id, off, data)
	switch {
	case n > 0:
		add(&c.bulk[peer].sent, n)
	case n == 0 && len(data) > 0:
		add(&c.bulk[peer].full, 1)
	}
	return n
}

// Poll implements conduit.Conduit.
func (c *Conduit) Poll(budget int, sink conduit.Sink) int {
	c.polls.Add(1)
	if !c.poll.TryLock() {
		c.busy.Add(1)
		return -1
	}
	c.sink = sink
	n := c.Conduit.Poll(budget, (*counting)(c))
	c.sink = nil
	c.poll.Unlock()
	switch {
	case n < 0:
		c.busy.Add(1)
	case n == 0:
		c.empty.Add(1)
	}
	return n
}

// counting is the sink between the conduit inside and the caller's.
type counting Conduit

// Record implements conduit.Sink.
func (c *counting) Record(src int, rec []byte) {
	add(&c.recv[src].recs, 1)
	add(&c.recv[src].bytes, len(rec))
	c.sink.Record(src, rec)
}

// Bulk implements conduit.Sink.
func (c *counting) Bulk(src int, id uint64, off int64, chunk []byte) {
	add(&c.recv[src].chunks, 1)
	add(&c.recv[src].bulk, len(chunk))
	c.sink.Bulk(src, id, off, chunk)
}

// Sleep implements conduit.Conduit.
func (c *Conduit) Sleep(d time.Duration, ready func() bool) bool {
	start := time.Now()
	ok := c.Conduit.Sleep(d, ready)
	if ok {
		c.sleeps.Add(1)
		c.slept.Add(uint64(time.Since(start)))
	}
	return ok
}

// Wake implements conduit.Conduit.
func (c *Conduit) Wake() {
	c.wakes.Add(1)
	c.Conduit.Wake()
}

// Snapshot returns the counters. It may be called at any time, from any goroutine, and allocates.
func (c *Conduit) Snapshot() Snapshot {
	s := Snapshot{
		Peers: make([]Peer, len(c.send)), Polls: c.polls.Load(), Empty: c.empty.Load(), Busy: c.busy.Load(),
		Sleeps: c.sleeps.Load(), Slept: time.Duration(c.slept.Load()), Wakes: c.wakes.Load(),
	}
	for i := range s.Peers {
		p, out, b, in := &s.Peers[i], &c.send[i], &c.bulk[i], &c.recv[i]
		for k := range p.Sent {
			p.Sent[k], p.SentBytes[k], p.Refused[k] = out.sent[k].Load(), out.bytes[k].Load(), out.refused[k].Load()
		}
		p.BulkSent, p.BulkFull = b.sent.Load(), b.full.Load()
		p.Received, p.ReceivedBytes = in.recs.Load(), in.bytes.Load()
		p.BulkChunks, p.BulkReceived = in.chunks.Load(), in.bulk.Load()
	}
	return s
}
