package portals

import (
	"encoding/binary"
	"math"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/arch"
	"github.com/golci/golci/internal/spin"
)

// poller is the receiving side. All of it but the lock belongs to the lock's holder.
type poller struct {
	lock   spin.Lock
	takers [queues]*taker
	sink   conduit.Sink
	polls  uint64
	// blocked counts the looks at a request that had to wait for what its answer may take.
	blocked uint64
}

func (p *poller) init(c *Conduit) {
	for i := range p.takers {
		t := newTaker(&c.seg.queues[i], c.g)
		t.dice.Seed(c.g.seed^uint64(c.rank)<<32, uint64(i))
		t.serve = func(src int, k uint32, rec []byte) { c.serve(i, src, k, rec) }
		p.takers[i] = t
	}
	p.takers[amQueue].may = c.mayAnswer
}

// serve hands one record to the sink and tells the sender that it is done with.
func (c *Conduit) serve(queue, src int, k uint32, rec []byte) {
	size := int(uint32(binary.LittleEndian.Uint64(rec)))
	c.poll.sink.Record(src, rec[:size:size])
	if price := costOf(queue, k); price != 0 {
		done := &c.seg.done[src]
		arch.StoreRel64(done, done.Load()+uint64(price))
	}
}

// mayAnswer tells whether a request may be served: its handler may reply, and must then find tickets and a chunk.
func (c *Conduit) mayAnswer() bool {
	if c.purse.canAnswer() {
		return true
	}
	if c.harvest(true); c.purse.canAnswer() {
		return true
	}
	c.poll.blocked++
	return false
}

// Poll implements conduit.Conduit. It takes what there is on SYS, then completions and replies on SAFE, then requests on AM,
// each up to its limit. Where a request cannot get what its answer may need, Poll leaves it for a later call.
func (c *Conduit) Poll(budget int, sink conduit.Sink) int {
	p := &c.poll
	if !p.lock.TryLock() {
		return -1
	}
	n := 0
	if news := c.fails.News(); news != conduit.OwnEnd {
		p.polls++
		p.sink = sink
		for i, t := range p.takers {
			n += t.take(min(budget-n, c.limit(i)))
		}
		p.sink = nil
		c.harvestIfShort()
		if news == conduit.PeerGone {
			c.fails.Tell(sink, c.over)
		}
	}
	p.lock.Unlock()
	return n
}

func (c *Conduit) limit(queue int) int {
	if l := c.g.limits[queue]; l > 0 {
		return l
	}
	return math.MaxInt
}

// harvestIfShort takes completions when less than half of the tickets or of the chunks for requests is left.
func (c *Conduit) harvestIfShort() {
	have := cost(c.purse.free.Load())
	if have.tickets() < c.g.tickets/2 || have.requests() < c.g.requests/2 {
		c.harvest(true)
	}
}

// Pending implements conduit.Conduit. While another goroutine polls, the answer is true.
func (c *Conduit) Pending() bool {
	if news := c.fails.News(); news != conduit.NoNews {
		return news == conduit.PeerGone
	}
	p := &c.poll
	if !p.lock.TryLock() {
		return true
	}
	found := false
	for _, t := range p.takers {
		if found = t.ready(); found {
			break
		}
	}
	p.lock.Unlock()
	return found
}
