//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"github.com/golci/golci/conduit"
)

// batch is how many entries Poll takes out at a time, and completions from the library.
const batch = 16

// delivery is a record or a chunk that has come, or a completion to be told.
type delivery struct {
	peer *peer
	data []byte
	id   uint64
	off  int64
	bulk bool
	buf  *buffer // in which it lies
	slot *slot   // the same, of this rank itself
	done completion
}

// completion is an operation that is over.
type completion struct {
	to  conduit.Completion
	n   int
	err error
}

// entry is a delivery that waits.
type entry struct {
	delivery
	next *entry
}

// inbox is entries in the order in which they came.
type inbox struct{ first, last *entry }

func (q *inbox) pushEntry(e *entry) {
	if q.last == nil {
		q.first = e
	} else {
		q.last.next = e
	}
	q.last = e
}

func (q *inbox) popEntry() *entry {
	e := q.first
	if q.first = e.next; q.first == nil {
		q.last = nil
	}
	return e
}

// ring is peers in turn.
type ring struct {
	peers []*peer
	head  int
}

func (r *ring) pushPeer(p *peer) {
	if r.head > len(r.peers)/2 {
		n := copy(r.peers, r.peers[r.head:])
		r.peers, r.head = r.peers[:n], 0
	}
	r.peers = append(r.peers, p)
}

func (r *ring) popPeer() *peer {
	p := r.peers[r.head]
	if r.head++; r.head == len(r.peers) {
		r.peers, r.head = r.peers[:0], 0
	}
	return p
}

func (r *ring) isEmpty() bool { return len(r.peers) == 0 }

// Poll implements conduit.Conduit.
func (c *Conduit) Poll(budget int, sink conduit.Sink) int {
	if !c.polling.TryLock() {
		return 0
	}
	defer c.polling.Unlock()
	if c.closed.Load() {
		return 0
	}
	c.polls.Add(1)
	c.mu.Lock()
	if c.ready.Load() == 0 { // else Pending has just looked, or there is still something from the last time
		c.makeProgress(4 * batch)
	}
	n := 0
	for {
		k := c.pickDeliveries(min(budget-n, batch))
		if k == 0 {
			break
		}
		c.mu.Unlock()
		for i := range c.batch[:k] {
			c.batch[i].giveTo(sink)
		}
		n += k
		c.mu.Lock()
		c.settleDelivered(c.batch[:k])
	}
	c.mu.Unlock()
	if c.fails.News() == conduit.PeerGone {
		c.fails.Tell(sink, c.allTold)
	}
	return n
}

// allTold tells whether all of a failed peer has been delivered.
func (c *Conduit) allTold(p int) bool { return c.peers[p].waiting.Load() == 0 }

// pickDeliveries takes up to n deliveries out, operations that are over first, then entries of the peers in turn. Under
// mu.
func (c *Conduit) pickDeliveries(n int) (k int) {
	if c.closed.Load() {
		return 0
	}
	for ; k < n && len(c.ended) > 0; k++ {
		c.batch[k] = delivery{done: c.ended[0]}
		c.ended = c.ended[1:]
	}
	for ; k < n && !c.turns.isEmpty(); k++ {
		p := c.turns.popPeer()
		e := p.in.popEntry()
		c.batch[k] = e.delivery
		*e = entry{next: c.entries}
		c.entries = e
		if p.turn = p.in.first != nil; p.turn {
			c.turns.pushPeer(p)
		}
	}
	c.ready.Add(-int64(k))
	return k
}

// giveTo hands one thing to the caller. Without mu.
func (d *delivery) giveTo(sink conduit.Sink) {
	switch {
	case d.done.to != nil:
		d.done.to.Completed(d.done.n, d.done.err)
	case d.bulk:
		sink.Bulk(d.peer.rank, d.id, d.off, d.data)
	default:
		sink.Record(d.peer.rank, d.data)
	}
}

// settleDelivered gives back the memory of what was delivered, and tells peers that they have room again. Under mu.
func (c *Conduit) settleDelivered(all []delivery) {
	for i := range all {
		d := &all[i]
		if d.done.to == nil {
			c.countTaken(d.peer, d)
			d.peer.waiting.Add(-1)
		}
		if d.buf != nil {
			c.pool.releaseUses(d.buf, 1)
		}
		if d.slot != nil {
			c.slab.giveSlot(d.slot)
		}
		*d = delivery{}
	}
}

// countTaken counts what a peer sent as taken. It hears of that with the next message to it, or with one for that alone
// if it could soon be short of room.
func (c *Conduit) countTaken(p *peer, d *delivery) {
	short := false
	if d.bulk {
		p.got++
		short = int(p.got-p.gotTold) >= max(1, c.geo.slots/2)
	} else {
		p.taken += cost(len(d.data))
		short = p.taken-p.told > c.geo.tellAt
	}
	switch {
	case p.rank == c.cfg.Rank:
		p.seen, p.gone = p.taken, p.got
	case short && !c.fails.Has(p.rank):
		c.tellPeer(p, kindCredit)
	}
}

// Pending implements conduit.Conduit.
func (c *Conduit) Pending() bool {
	if c.closed.Load() {
		return false
	}
	if c.hasWaiting() {
		return true
	}
	if !c.mu.TryLock() {
		return false // whoever has it wakes the sleeper if it finds something
	}
	found := c.makeProgress(batch)
	c.mu.Unlock()
	c.alertSleeper(found)
	return found && c.hasWaiting()
}

// hasWaiting tells whether Poll would find something that has been taken from the library already.
func (c *Conduit) hasWaiting() bool {
	return c.ready.Load() > 0 || c.fails.News() == conduit.PeerGone
}
