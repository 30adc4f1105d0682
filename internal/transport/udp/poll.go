package udp

import (
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/transport/receivepool"
	"github.com/golci/golci/internal/transport/tickets"
)

// Poll implements conduit.Conduit. It makes a system call, unless Pending has just done so, and may allocate while
// the pool grows to the size that the traffic needs.
func (c *Conduit) Poll(budget int, sink conduit.Sink) int {
	if c.isClosed() {
		return 0
	}
	if !c.poll.lockUser() {
		return 0
	}
	n := 0
	if !c.isClosed() {
		if !c.recv.fresh {
			c.userPass()
		}
		c.recv.fresh = false
		n = c.deliverAll(budget, sink) + c.tellKept()
		if c.fails.News() == conduit.PeerGone {
			c.fails.Tell(sink, c.allDelivered)
		}
		c.settleSends()
		if c.debts.Load() {
			c.due.Store(0) // who parks now pays them first
		}
	}
	c.poll.Unlock()
	return n
}

// Pending implements conduit.Conduit. Where nothing waits it makes a system call to see whether something has come.
func (c *Conduit) Pending() bool {
	if c.isClosed() {
		return false
	}
	if !c.poll.lockUser() {
		return !c.isClosed()
	}
	found := false
	if !c.isClosed() {
		if found = c.waiting(); !found {
			c.userPass()
			c.recv.fresh = true
			found = c.waiting()
		}
	}
	c.poll.Unlock()
	return found
}

// waiting tells whether something is there to be delivered, or to be told. Under poll.
func (c *Conduit) waiting() bool {
	return c.recv.waiting() || c.self.Load() || c.zeroCopy.waiting() || c.fails.News() == conduit.PeerGone
}

// userPass is a pass of somebody who polls, not of background progress.
func (c *Conduit) userPass() {
	c.polls.Store(c.polls.Load() + 1)
	c.passOnce(true)
}

// settleSends sends what was kept back while records were delivered.
func (c *Conduit) settleSends() {
	if !c.held.Load() && c.dirties.Load() == 0 {
		return
	}
	c.engine.Lock()
	c.now = c.clock()
	c.turn()
	c.releaseEngine()
}

// deliverAll gives the sink up to budget records and pieces: system records first, then replies, then requests and bulk
// data in turns.
func (c *Conduit) deliverAll(budget int, sink conduit.Sink) (n int) {
	odd := c.polls.Load()&1 == 1
	if c.self.Load() && !odd {
		n += c.deliverSelf(budget, sink)
	}
	n += c.serveQueue(receivepool.SYS, budget-n, sink)
	n += c.serveQueue(receivepool.SAFE, budget-n, sink)
	if odd {
		n += c.serveQueue(receivepool.Bulk, budget-n, sink)
		n += c.serveQueue(receivepool.AM, budget-n, sink)
	} else {
		n += c.serveQueue(receivepool.AM, budget-n, sink)
		n += c.serveQueue(receivepool.Bulk, budget-n, sink)
	}
	if c.self.Load() {
		n += c.deliverSelf(budget-n, sink)
	}
	return n
}

// serveQueue gives the sink up to budget entries of a queue, fewer if the queue has a limit: what waits in the pool
// first, which is older.
func (c *Conduit) serveQueue(q receivepool.Queue, budget int, sink conduit.Sink) (n int) {
	r := &c.recv
	budget = min(budget, c.limits[q])
	for e := (receivepool.Entry{}); r.pool.Len(q) > 0 && n < budget && c.gate(q); n++ {
		r.pool.Pop(q, &e)
		c.giveEntry(q, &e, sink)
	}
	for ; r.next[q] < len(r.arrivals[q]) && n < budget && c.gate(q); n++ {
		r.next[q]++ // before the sink may look
		c.giveEntry(q, &r.arrivals[q][r.next[q]-1], sink)
	}
	return n
}

// gate tells whether an entry of a queue may be served: a request only if its answer can be sent.
func (c *Conduit) gate(q receivepool.Queue) bool {
	return c.window == nil || q != receivepool.AM || c.window.MayServe()
}

func (c *Conduit) giveEntry(q receivepool.Queue, e *receivepool.Entry, sink conduit.Sink) {
	invariants.Enter() // the race detector knows no order from a datagram that is sent to its answer
	if q == receivepool.Bulk {
		sink.Bulk(int(e.Src), e.ID, e.Off, e.Data)
	} else {
		sink.Record(int(e.Src), e.Data[:len(e.Data):len(e.Data)])
	}
	c.noteTaken(q, e)
}

// stow copies what has not been delivered out of the receive buffers, which are to be used again.
func (c *Conduit) stow() {
	r := &c.recv
	for q := range receivepool.Queues {
		for ; r.next[q] < len(r.arrivals[q]); r.next[q]++ {
			r.pool.Push(q, &r.arrivals[q][r.next[q]])
		}
		clear(r.arrivals[q])
		r.arrivals[q], r.next[q] = r.arrivals[q][:0], 0
	}
	r.fresh = false
}

// selfMail notes that this rank has sent something to itself.
func (c *Conduit) selfMail() {
	c.self.Store(true)
	c.ring()
}

// deliverSelf delivers what this rank has sent to itself, from where it was written. Under poll.
func (c *Conduit) deliverSelf(budget int, sink conduit.Sink) (n int) {
	ln := c.peerState(c.cfg.Rank)
	c.self.Store(false) // before the look: what is committed after it sets it again
	for n < budget {
		if rec, class := ln.stage.nextRecord(); rec != nil {
			sink.Record(c.cfg.Rank, rec[:len(rec):len(rec)])
			ln.stage.popRecord(len(rec))
			if c.window != nil {
				c.window.Give(tickets.Of(class, len(rec)))
			}
			n++
			continue
		}
		s := ln.bulk.nextSlot()
		if s == nil {
			return n
		}
		sink.Bulk(c.cfg.Rank, s.id, s.off, s.data())
		ln.bulkFreed.Store(ln.bulkFreed.Load() + uint64(s.n))
		c.freeSlot(s)
		ln.bulk.handed()
		n++
	}
	c.self.Store(true)
	return n
}
