//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"encoding/binary"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/fi"
)

// reachablePeer gives the peer of that number if something may be sent to it.
func (c *Conduit) reachablePeer(p int) *peer {
	if uint(p) >= uint(c.cfg.Size) || c.fails.Has(p) {
		return nil
	}
	return &c.peers[p]
}

// Reserve implements conduit.Conduit.
func (c *Conduit) Reserve(to int, class conduit.Class, n int) ([]byte, conduit.Status) {
	p := c.reachablePeer(to)
	if p == nil || n < conduit.WordBytes || n > c.geo.maxRecord {
		return nil, conduit.Dead
	}
	c.mu.Lock()
	found := false
	// News of room may have come. It is looked for early: a sender need not poll, and a connection back takes passes.
	if under := p.sent - p.seen; under > c.geo.requests/2 || !c.geo.doesAdmit(class, under, cost(n)) {
		found = c.makeProgress(batch)
	}
	var space []byte
	st := conduit.Retry
	if c.geo.doesAdmit(class, p.sent-p.seen, cost(n)) {
		if s := c.keptSlot(&p.reserved, header+(n+7)&^7); s != nil {
			s.kind = kind(class)
			space, st = s.space(n), conduit.OK
		}
	}
	c.mu.Unlock()
	c.alertSleeper(found)
	return space, st
}

// keptSlot makes a slot for a message of n bytes, or takes the one that was reserved before if that is long enough.
func (c *Conduit) keptSlot(at **slot, n int) *slot {
	if s := *at; s != nil && !s.fitsIn(n) {
		c.slab.giveSlot(s)
		*at = nil
	}
	if *at == nil {
		*at = c.slab.takeSlot(n)
	}
	if *at != nil {
		(*at).n = n
	}
	return *at
}

// Commit implements conduit.Conduit.
func (c *Conduit) Commit(to int, first uint64) {
	p := c.reachablePeer(to)
	if p == nil {
		return
	}
	c.mu.Lock()
	s, n := p.reserved, int(uint32(first))
	if s == nil || n < conduit.WordBytes || header+(n+7)&^7 > s.n {
		c.mu.Unlock()
		return
	}
	p.reserved = nil
	s.n = header + (n+7)&^7
	binary.LittleEndian.PutUint64(s.mem[recordAt:], first)
	p.sent += cost(n)
	c.launchSlot(p, s)
	c.mu.Unlock()
	c.afterSend(p)
}

// BulkSend implements conduit.Conduit. It copies what it takes.
func (c *Conduit) BulkSend(to int, id uint64, off int64, data []byte, _ conduit.Completion) (n int, kept bool) {
	for n < len(data) {
		space, st := c.BulkReserve(to, len(data)-n)
		if st == conduit.Dead && n == 0 {
			return -1, false
		}
		if st != conduit.OK {
			break
		}
		k := copy(space, data[n:])
		c.BulkCommit(to, id, off+int64(n), k)
		n += k
	}
	if n == 0 && c.reachablePeer(to) == nil {
		return -1, false
	}
	return n, false
}

// BulkReserve implements conduit.Conduit.
func (c *Conduit) BulkReserve(to, n int) ([]byte, conduit.Status) {
	p := c.reachablePeer(to)
	if p == nil {
		return nil, conduit.Dead
	}
	if n = min(n, c.geo.chunk); n <= 0 {
		return nil, conduit.Retry
	}
	c.mu.Lock()
	found := false
	if int(p.chunks-p.gone) >= c.geo.slots {
		found = c.makeProgress(batch)
	}
	var space []byte
	st := conduit.Retry
	if int(p.chunks-p.gone) < c.geo.slots {
		if s := c.keptSlot(&p.chunk, header+chunkHead+(n+7)&^7); s != nil {
			at := recordAt + chunkHead
			space, st = s.mem[at:at+n:at+n], conduit.OK
			p.room = n
		}
	}
	c.mu.Unlock()
	c.alertSleeper(found)
	return space, st
}

// BulkCommit implements conduit.Conduit.
func (c *Conduit) BulkCommit(to int, id uint64, off int64, n int) {
	p := c.reachablePeer(to)
	if p == nil {
		return
	}
	c.mu.Lock()
	s := p.chunk
	if s == nil || n < 1 || n > p.room {
		c.mu.Unlock()
		return
	}
	p.chunk = nil
	s.kind, s.n = kindChunk, header+chunkHead+(n+7)&^7
	x := chunk{id, off, uint32(n)}
	x.putChunk(s.mem[recordAt:])
	p.chunks++
	c.launchSlot(p, s)
	c.mu.Unlock()
	c.afterSend(p)
}

// launchSlot sends a record or a chunk, or queues it. Under mu, as all that follows.
func (c *Conduit) launchSlot(p *peer, s *slot) {
	s.use, s.peer = sending, p.rank
	p.count++
	if p.rank == c.cfg.Rank {
		c.deliverLoop(p, s)
		return
	}
	c.pushSlot(p, s)
}

// deliverLoop delivers to this rank itself.
func (c *Conduit) deliverLoop(p *peer, s *slot) {
	c.stampHeader(p, s)
	if !c.takeMessage(s.messageBytes(), nil, s) {
		c.slab.giveSlot(s)
	}
}

// pushSlot sends a slot, behind what waits for the peer already.
func (c *Conduit) pushSlot(p *peer, s *slot) {
	c.noteUse(p)
	if p.out.first != nil || !c.postSlot(p, s) {
		p.out.pushSlot(s)
		if !p.busy {
			p.busy = true
			c.busy = append(c.busy, p)
		}
	}
	c.attendOften()
}

// tellPeer sends a message that is no record. Without memory for it, the peer has to wait for other news.
func (c *Conduit) tellPeer(p *peer, k kind, more ...uint64) {
	if p.rank == c.cfg.Rank || c.down {
		return
	}
	s := c.slab.takeSlot(header + 8*len(more))
	if s == nil {
		return
	}
	s.use, s.peer, s.kind, s.n = sending, p.rank, k, header+8*len(more)
	for i, v := range more {
		binary.LittleEndian.PutUint64(s.mem[recordAt+8*i:], v)
	}
	c.pushSlot(p, s)
}

// stampHeader writes the header of a message, with the latest news for the peer.
func (c *Conduit) stampHeader(p *peer, s *slot) {
	h := head{src: uint32(c.cfg.Rank), kind: s.kind, bulkTaken: p.got, taken: p.taken, job: c.cfg.Job}
	h.putHead(s.mem[messageAt:])
	p.told, p.gotTold = p.taken, p.got
}

// postSlot gives a slot to the library; false if it has no room now.
func (c *Conduit) postSlot(p *peer, s *slot) bool {
	if c.down {
		c.dropSlot(s)
		return true
	}
	var code int
	switch s.use {
	case sending:
		c.stampHeader(p, s)
		at := s.base() + messageAt
		if p.connected && s.n <= c.info.Inject {
			if code = c.ep.Inject(at, s.n, p.addr); code == 0 {
				c.slab.giveSlot(s)
				return true
			}
			break
		}
		c.noteConnect(p)
		if code = c.ep.Send(at, s.n, s.desc, p.addr, s.base()); code == 0 {
			c.sends++
		}
	case getting:
		c.noteConnect(p)
		o := s.op
		code = c.ep.ReadFrom(addressOf(o.local), len(o.local), o.desc(), p.addr, o.raddr, o.rkey, s.base())
	case putting:
		c.noteConnect(p)
		o := s.op
		code = c.ep.WriteTo(addressOf(o.local), len(o.local), o.desc(), p.addr, o.raddr, o.rkey, s.base())
	}
	switch code {
	case 0:
		return true
	case -fi.Again:
		return false
	}
	c.dropSlot(s)
	c.peerLost(p, fi.Code(c.ep, "sending", code))
	return true
}

// noteConnect notes when a peer was first sent something.
func (c *Conduit) noteConnect(p *peer) {
	if !p.connected && p.since.IsZero() {
		p.since = time.Now()
		c.connecting = append(c.connecting, p)
	}
}

// dropSlot gives up a slot that is not in the library.
func (c *Conduit) dropSlot(s *slot) {
	if s.op != nil {
		c.endSlot(s, c.reasonFor(s.peer))
		return
	}
	c.slab.giveSlot(s)
}

// flushWaiting sends what waits, as far as there is room.
func (c *Conduit) flushWaiting() {
	left := c.busy[:0]
	for i := 0; i < len(c.busy); i++ { // post may add to it when a peer fails, but to no place before this one
		p := c.busy[i]
		for p.out.first != nil {
			s := p.out.popSlot()
			if !c.postSlot(p, s) {
				s.next = p.out.first
				p.out.first = s
				if p.out.last == nil {
					p.out.last = s
				}
				break
			}
		}
		if p.busy = p.out.first != nil; p.busy {
			left = append(left, p)
		}
	}
	clear(c.busy[len(left):])
	c.busy = left
}

// afterSend wakes the sleeper here if what was sent is for this rank itself, or has to be sent again by a poller.
func (c *Conduit) afterSend(p *peer) {
	c.alertSleeper(p.rank == c.cfg.Rank)
	if p.rank != c.cfg.Rank && c.sleep.asleep.Load() {
		c.mu.Lock()
		waits := len(c.busy) > 0
		c.mu.Unlock()
		if waits {
			c.Wake()
		}
	}
}
