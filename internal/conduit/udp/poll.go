package udp

import "github.com/golci/golci/comm/conduit"

// Poll implements conduit.Conduit. It makes a system call, unless Pending has just done so, and may allocate while inboxes grow
// to the size that their peers' traffic needs.
func (c *Conduit) Poll(budget int, sink conduit.Sink) int {
	if c.closed() {
		return 0
	}
	if !c.poll.lockUser() {
		return -1
	}
	n := 0
	if !c.closed() {
		if !c.recv.fresh {
			c.userPass()
		}
		c.recv.fresh = false
		n = c.deliver(budget, sink)
		if c.fails.News() == conduit.PeerGone {
			c.fails.Tell(sink, c.over)
		}
		c.settle()
		if c.debts.Load() {
			c.due.Store(0) // who parks now pays them first
		}
	}
	c.poll.Unlock()
	return n
}

// Pending implements conduit.Conduit. Where nothing waits it makes a system call to see whether something has come.
func (c *Conduit) Pending() bool {
	if c.closed() {
		return false
	}
	if !c.poll.lockUser() {
		return !c.closed()
	}
	found := false
	if !c.closed() {
		if found = c.waiting(); !found {
			c.userPass()
			c.recv.fresh = true
			found = c.waiting()
		}
	}
	c.poll.Unlock()
	return found
}

// waiting tells whether something is there to be delivered, or a failure to be told. Under poll.
func (c *Conduit) waiting() bool {
	return c.recv.waiting() || c.ready.n > 0 || c.self.Load() || c.fails.News() == conduit.PeerGone
}

// userPass is a pass of somebody who polls, not of the keeper.
func (c *Conduit) userPass() {
	c.polls.Store(c.polls.Load() + 1)
	c.pass(true)
}

// settle sends what was kept back while records were delivered.
func (c *Conduit) settle() {
	if !c.held.Load() && c.dirties.Load() == 0 {
		return
	}
	c.engine.Lock()
	c.now = c.clock()
	c.turn()
	c.release()
}

// deliver gives the sink up to budget records and pieces: what has waited first, peers in turn.
func (c *Conduit) deliver(budget int, sink conduit.Sink) (n int) {
	if c.self.Load() && c.polls.Load()&1 == 0 {
		n += c.deliverSelf(budget, sink)
	}
	var a arrival
	for n < budget && c.ready.n > 0 {
		k := c.ready.pop()
		in := &c.lanes[k/2].in[k%2]
		if !in.pop(&a) {
			continue
		}
		a.src = k / 2
		c.give(&a, sink)
		n++
		if !in.empty() {
			c.ready.push(k)
		} else if c.fails.Lost(int(k / 2)) {
			*in = inbox{}
		}
	}
	r := &c.recv
	for n < budget && r.waiting() {
		r.next++ // before the sink may look
		c.give(&r.arrivals[r.next-1], sink)
		n++
	}
	if c.self.Load() {
		n += c.deliverSelf(budget-n, sink)
	}
	return n
}

func (c *Conduit) give(a *arrival, sink conduit.Sink) {
	if a.bulk {
		sink.Bulk(int(a.src), a.id, a.off, a.data)
	} else {
		sink.Record(int(a.src), a.data[:len(a.data):len(a.data)])
	}
	c.take(a)
}

// stow copies what has not been delivered out of the receive buffers, which are to be used again.
func (c *Conduit) stow() {
	r := &c.recv
	for ; r.next < len(r.arrivals); r.next++ {
		c.store(&r.arrivals[r.next])
	}
	clear(r.arrivals)
	r.arrivals, r.next = r.arrivals[:0], 0
	r.fresh = false
}

// store puts a into its peer's inbox.
func (c *Conduit) store(a *arrival) {
	k := 2 * a.src
	if a.bulk {
		k++
	}
	in := &c.lanes[a.src].in[k%2]
	if in.empty() {
		c.ready.push(k)
	}
	in.push(a)
}

// selfMail notes that this rank has sent something to itself.
func (c *Conduit) selfMail() {
	c.self.Store(true)
	c.ring()
}

// deliverSelf delivers what this rank has sent to itself, from where it was written. Under poll.
func (c *Conduit) deliverSelf(budget int, sink conduit.Sink) (n int) {
	ln := &c.lanes[c.cfg.Rank]
	c.self.Store(false) // before the look: what is committed after it sets it again
	for n < budget {
		if rec, _ := ln.stage.next(); rec != nil {
			sink.Record(c.cfg.Rank, rec[:len(rec):len(rec)])
			ln.stage.pop(len(rec))
			ln.freed.Store(ln.freed.Load() + cost(len(rec)))
			n++
			continue
		}
		s := ln.bulk.next()
		if s == nil {
			return n
		}
		sink.Bulk(c.cfg.Rank, s.id, s.off, s.buf[:s.n])
		ln.bulkFreed.Store(ln.bulkFreed.Load() + uint64(s.n))
		ln.bulk.handed(slotFree)
		n++
	}
	c.self.Store(true)
	return n
}
