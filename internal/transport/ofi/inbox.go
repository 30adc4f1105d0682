//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/fi"
)

// makeProgress takes up to most completions from the library, sends what waits, and looks at the clock where that
// matters. found tells that there is something to deliver. Under mu, as all of this file.
func (c *Conduit) makeProgress(most int) (found bool) {
	if c.down {
		return false
	}
	for most > 0 {
		want := min(most, batch)
		got, code := c.ep.Read(want)
		if code == -fi.Available {
			c.takeFailure()
			most--
			continue
		}
		if code != 0 {
			break
		}
		for i := range got {
			c.onCompleted(&got[i])
		}
		most -= len(got)
		if len(got) < want {
			break
		}
	}
	c.pool.fillPool() // in vain if the library has no room; the next pass tries again
	if len(c.busy) > 0 {
		c.flushWaiting()
	}
	c.askDoubted()
	if len(c.connecting)+len(c.suspects) > 0 {
		c.failOverdue(time.Now())
	}
	if len(c.flying) > 0 && c.lostSome {
		c.overdueOps()
	}
	return c.ready.Load() > 0 || c.fails.News() == conduit.PeerGone
}

// onCompleted takes in that an operation is over, or that a message has come.
func (c *Conduit) onCompleted(k *fi.Completion) {
	s := c.slab.slotOf(k.Context)
	if s == nil {
		return
	}
	switch s.use {
	case receiving:
		b := s.buf
		if k.Flags&fi.Recv != 0 && k.Len > 0 {
			if m, ok := b.findMessage(k, c.info.MultiRecv); ok {
				c.takeMessage(m, b, nil)
			}
		}
		if !c.info.MultiRecv || k.Flags&fi.MultiRecv != 0 {
			c.pool.returned(b)
		}
	case sending:
		c.sends--
		c.noteLinked(&c.peers[s.peer])
		c.slab.giveSlot(s)
	case getting, putting:
		c.noteLinked(&c.peers[s.peer])
		c.endSlot(s, nil)
	}
}

// noteLinked notes that a peer has taken something.
func (c *Conduit) noteLinked(p *peer) {
	if !p.connected {
		p.connected = true
		c.connecting = without(c.connecting, p)
	}
}

// takeFailure takes an error from the library.
func (c *Conduit) takeFailure() {
	k, err, ok := c.ep.Failure()
	if !ok {
		return
	}
	s := c.slab.slotOf(k.Context)
	if s == nil {
		return
	}
	switch s.use {
	case receiving:
		// A message that was cut off, or a stranger's. Which peer it was of is not known.
		if !c.info.MultiRecv || k.Flags&fi.MultiRecv != 0 {
			c.pool.returned(s.buf)
		}
	case sending:
		c.sends--
		p := &c.peers[s.peer]
		c.slab.giveSlot(s)
		c.peerLost(p, err)
	case getting, putting:
		p := &c.peers[s.peer]
		if fi.IsKey(err) {
			c.endSlot(s, &conduit.PeerError{Peer: p.rank, Err: conduit.ErrKey, Detail: err.Error()})
			return
		}
		c.peerLost(p, err)
		c.endSlot(s, c.reasonFor(p.rank))
	}
}

// takeMessage takes in what has come, into buf, or from this rank itself in s. true: it is an entry now, which gives
// buf or s back.
func (c *Conduit) takeMessage(m []byte, buf *buffer, s *slot) bool {
	var h head
	if !h.parseHead(m, c.cfg.Job, c.cfg.Size) {
		return false // of a stranger
	}
	p := &c.peers[h.src]
	c.noteUse(p)
	p.heard = c.ticks
	if !p.asked.IsZero() && (!p.suspected || h.kind == kindPong) { // what a dead peer had sent before may still come
		p.asked, p.suspected = time.Time{}, false
		c.suspects = without(c.suspects, p)
	}
	p.seen += fresh(h.taken, p.seen, p.sent)
	if d := h.bulkTaken - p.gone; d <= p.chunks-p.gone {
		p.gone += d
	}
	body := m[header:]
	switch h.kind {
	case kindRequest, kindReply, kindSystem:
		n := binary.LittleEndian.Uint32(body)
		if n < conduit.WordBytes || uint64(n) > uint64(len(body)) || (int(n)+7)&^7 != len(body) {
			c.failPeer(p, conduit.ErrCorrupt, fmt.Sprintf("a record that says %d bytes in %d", n, len(body)))
			return false
		}
		return c.queueArrived(p, delivery{data: body[:n:n], buf: buf, slot: s})
	case kindChunk:
		var x chunk
		data, ok := x.parseChunk(body)
		if !ok {
			c.failPeer(p, conduit.ErrCorrupt, fmt.Sprintf("a chunk that says %d bytes in %d", x.n, len(body)))
			return false
		}
		return c.queueArrived(p, delivery{data: data, id: x.id, off: x.off, bulk: true, buf: buf, slot: s})
	case kindBye:
		p.all, p.bye = binary.LittleEndian.Uint64(body), true
		c.farewellOf(p)
	case kindByeAck:
		p.acked = true
	case kindPing:
		c.tellPeer(p, kindPong)
	}
	return false
}

// queueArrived queues an entry for Poll.
func (c *Conduit) queueArrived(p *peer, d delivery) bool {
	p.received++
	queued := !c.closed.Load() && !c.fails.Has(p.rank)
	if queued {
		d.peer = p
		if d.buf != nil {
			d.buf.refs++
		}
		e := c.entries
		if e == nil {
			e = &entry{}
		} else {
			c.entries = e.next
		}
		e.delivery, e.next = d, nil
		p.in.pushEntry(e)
		p.waiting.Add(1)
		c.ready.Add(1)
		if !p.turn {
			p.turn = true
			c.turns.pushPeer(p)
		}
	}
	c.farewellOf(p)
	return queued
}

// farewellOf ends a peer that has closed, once all that it sent has come.
func (c *Conduit) farewellOf(p *peer) {
	if p.bye && p.received >= p.all && p.rank != c.cfg.Rank {
		c.tellPeer(p, kindByeAck)
		c.failPeer(p, conduit.ErrPeerClosed, "")
	}
}

func without(list []*peer, p *peer) []*peer {
	for i, x := range list {
		if x == p {
			last := len(list) - 1
			list[i], list[last] = list[last], nil
			return list[:last]
		}
	}
	return list
}
