package portals

import (
	"math/bits"
	"sync/atomic"

	"github.com/golci/golci/internal/spin"
)

// cost is what a record holds from Reserve until it has been served: tickets in bits 0 to 15, chunks of requests in 16 to 39,
// chunks of replies in 40 to 63. Costs add up as plain integers. A running sum may carry from one part into the next, but the
// difference of two sums is exact as long as what it stands for fits, and that is bounded by what a rank has.
type cost uint64

const (
	ticket        cost = 1
	requestChunk  cost = 1 << 16
	replyChunk    cost = 1 << 40
	requestChunks cost = (1<<24 - 1) << 16
)

func (c cost) tickets() int  { return int(c & (1<<16 - 1)) }
func (c cost) requests() int { return int(c >> 16 & (1<<24 - 1)) }
func (c cost) replies() int  { return int(c >> 40) }

// costs of a record of k units of the queue's grain. System records have a place kept for them and cost nothing.
func costOf(queue int, k uint32) cost {
	switch queue {
	case amQueue:
		return ticket + cost((k*256+chunkBytes-1)/chunkBytes)*requestChunk
	case safeQueue:
		return ticket + cost((k*smallUnit+chunkBytes-1)/chunkBytes)*replyChunk
	}
	return 0
}

// purse is what a rank has left of tickets and chunks. Any of its goroutines takes; harvest gives back.
type purse struct {
	free atomic.Uint64 // a cost
	_    [apart - 8]byte

	// Under gather.
	gather spin.Lock
	held   cost // request chunks that came back, kept until the replies that came before have been served
	cursor int  // where the next harvest begins

	// active has a bit for each peer that may have records of this rank under way. Set by the sender after it has counted the
	// record, cleared by harvest before it looks.
	active []atomic.Uint64

	ticketsWaited, chunksWaited atomic.Uint64
}

// take takes c and leaves at least keep tickets.
func (p *purse) take(c cost, keep int) bool {
	for {
		f := p.free.Load()
		have := cost(f)
		if have.tickets() < c.tickets()+keep || have.requests() < c.requests() || have.replies() < c.replies() {
			return false
		}
		if p.free.CompareAndSwap(f, f-uint64(c)) {
			return true
		}
	}
}

func (p *purse) give(c cost) {
	if c != 0 {
		p.free.Add(uint64(c))
	}
}

// refused counts a sender that had to go without.
func (p *purse) refused(c cost, keep int) {
	if cost(p.free.Load()).tickets() < c.tickets()+keep {
		p.ticketsWaited.Add(1)
	} else {
		p.chunksWaited.Add(1)
	}
}

// canAnswer tells whether there are the two tickets and the chunk that serving a request may take.
func (p *purse) canAnswer() bool {
	have := cost(p.free.Load())
	return have.tickets() >= answerTickets && have.replies() > 0
}

func (p *purse) sent(peer int) {
	if w := &p.active[peer>>6]; w.Load()&(1<<(peer&63)) == 0 {
		w.Or(1 << (peer & 63))
	}
}

// maxLooks bounds the peers that one harvest looks at.
const maxLooks = 64

// harvest takes completions from the SAFE side: what peers have served of this rank's records comes back to the purse.
// polling tells that the caller holds the poll lock. It needs nothing but what it is given, so it can be called whenever something
// is missing; if another is at it, it does nothing.
func (c *Conduit) harvest(polling bool) {
	p := &c.purse
	if !p.gather.TryLock() {
		return
	}
	var got cost
	words := len(p.active)
	looks := maxLooks
	for i := 0; i < words && looks > 0; i++ {
		w := p.cursor
		if p.cursor++; p.cursor == words {
			p.cursor = 0
		}
		for set := p.active[w].Load(); set != 0 && looks > 0; set &= set - 1 {
			got += c.collect(w<<6 | bits.TrailingZeros64(set))
			looks--
		}
	}
	p.held += got & requestChunks
	got -= got & requestChunks
	if p.held != 0 && c.repliesServed(polling) {
		got, p.held = got+p.held, 0
	}
	p.give(got)
	p.gather.Unlock()
}

// collect is what peer has newly served. Under gather.
func (c *Conduit) collect(peer int) cost {
	ln := &c.lanes[peer]
	bit := uint64(1) << (peer & 63)
	word := &c.purse.active[peer>>6]
	// Cleared before the look: a record counted after it sets the bit again.
	word.And(^bit)
	sent := ln.sent.Load()
	done := sent
	if !c.fails.Has(peer) {
		done = c.all[peer].seg.done[c.rank].Load()
	}
	got := cost(done - ln.seen)
	if ln.seen = done; done != sent {
		word.Or(bit)
	}
	return got
}

// repliesServed tells whether every reply that came has been served, so that the room of the requests whose handlers sent them
// may be used again. A handler replies before its request counts as done, hence what was collected before the look is covered by it.
func (c *Conduit) repliesServed(polling bool) bool {
	if !polling {
		if !c.poll.lock.TryLock() {
			return false
		}
		defer c.poll.lock.Unlock()
	}
	return !c.poll.takers[safeQueue].ready()
}
