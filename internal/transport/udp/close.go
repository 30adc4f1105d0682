package udp

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/receivepool"
	"github.com/golci/golci/internal/transport/reliable"
)

// Close implements conduit.Conduit. It waits until what has left is acknowledged, or until no peer has acknowledged
// anything for Config.Linger. What waits for a peer to make room, and the last farewell, are left to background
// progress for as long again; but kept data that have not arrived then never will.
func (c *Conduit) Close() error {
	if !c.fails.Close() {
		return nil
	}
	c.background.nudge()
	c.wire.Wake() // the sleeper, or background progress
	c.poll.Lock()
	//lint:ignore SA2001 it waits for a Poll that is under way
	c.poll.Unlock()
	c.ring()
	<-c.background.flushed
	c.tellKept()
	return nil
}

// linger goes on after Close until all peers know of it.
func (k *background) linger() {
	c := k.c
	news := c.clock() // of the start, or of the last acknowledgement
	flushed := false
	for {
		c.poll.Lock()
		c.discardArrived()
		c.passOnce(false)
		calm, done, heard := c.farewell()
		now := c.clock()
		news = max(news, heard)
		if !flushed && (calm || now-news > c.cfg.Linger) {
			flushed = true
			c.dropKept()
			close(k.flushed)
		}
		c.poll.Unlock()
		if done || now-news > 2*c.cfg.Linger {
			break
		}
		c.sleep.role.Lock()
		c.wire.Wait(c.base.Add(min(max(time.Duration(c.due.Load()), now+tick), now+closingTick)))
		c.sleep.role.Unlock()
	}
	k.stayForOthers()
	c.forgetAll()
	_ = c.wire.Close() // nobody is left to be told
}

// stayForOthers answers peers that have not heard the last acknowledgement.
func (k *background) stayForOthers() {
	c := k.c
	for end := c.clock() + 2*closingTick; c.clock() < end; {
		c.wire.Wait(c.base.Add(end))
		c.poll.Lock()
		c.passOnce(false)
		c.poll.Unlock()
	}
}

// discardArrived takes what nobody will. Under poll.
func (c *Conduit) discardArrived() {
	r := &c.recv
	var e receivepool.Entry
	for q := range receivepool.Queues {
		for r.pool.Pop(q, &e) {
			c.noteTaken(q, &e)
		}
		for ; r.next[q] < len(r.arrivals[q]); r.next[q]++ {
			c.noteTaken(q, &r.arrivals[q][r.next[q]])
		}
	}
}

// farewell says good-bye where everything has left. calm: all that has left is acknowledged; done: all good-byes,
// too. news is when a peer from which this is still to come has acknowledged something last. Under poll.
func (c *Conduit) farewell() (calm, done bool, news time.Duration) {
	c.engine.Lock()
	defer c.releaseEngine()
	calm = c.zeroCopy.none()
	done = calm
	for p := range c.peers {
		ln := c.peers[p].Load()
		if ln == nil || !ln.known || c.fails.Lost(p) {
			continue
		}
		if !ln.saidBye && ln.stage.isEmpty() && ln.bulk.nextSlot() == nil {
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], ln.stage.all.Load()+ln.bulk.sent.Load())
			ln.saidBye = c.core.Send(p, reliable.Message{Data: b[:], Tag: tagBye, Urgent: true}, c.now) == reliable.Copied
		}
		idle := c.core.Idle(p)
		if !idle {
			news = max(news, c.core.News(p))
		}
		calm = calm && idle
		done = done && idle && ln.saidBye
	}
	c.turn()
	return calm, done, news
}

// heardBye takes in a peer's good-bye, which says how much it has sent in all.
func (c *Conduit) heardBye(peer int, data []byte) {
	if len(data) != 8 {
		c.recv.malformed++
		return
	}
	ln := c.peerState(peer)
	ln.bye, ln.byeAt = true, binary.LittleEndian.Uint64(data)
	c.byeIfAll(peer)
}

// byeIfAll ends a peer that has said good-bye once all that it sent is here.
func (c *Conduit) byeIfAll(peer int) {
	if ln := c.peerState(peer); ln.bye && ln.arrived >= ln.byeAt && !c.fails.Lost(peer) {
		c.failPeer(peer, conduit.ErrPeerClosed, "")
		c.departing = append(c.departing, departingPeer{peer, c.now + 2*closingTick, conduit.ErrPeerClosed})
	}
}

// overflow gives up a peer that sent a record for which there was no room, and tells it so. Under poll and engine.
func (c *Conduit) overflow(q receivepool.Queue, peer, n int) {
	c.recv.overflows++
	room, _ := c.recv.pool.Room()
	var b [overflowBytes]byte
	b[0] = byte(classOf[q])
	binary.LittleEndian.PutUint32(b[4:], uint32(n))
	binary.LittleEndian.PutUint64(b[8:], uint64(room[q]))
	c.core.Send(peer, reliable.Message{Data: b[:], Tag: tagOverflow, Urgent: true}, c.now) // in vain if it has no room, too
	c.failPeer(peer, conduit.ErrOverflow, overflowed(peer, c.cfg.Rank, b[:]))
	c.departing = append(c.departing, departingPeer{peer, c.now + 2*closingTick, conduit.ErrOverflow})
}

const overflowBytes = 16

// heardOverflow takes in that a peer had no room for a record of this rank.
func (c *Conduit) heardOverflow(peer int, data []byte) {
	if len(data) != overflowBytes {
		c.recv.malformed++
		return
	}
	c.giveUp(peer, conduit.ErrOverflow, overflowed(c.cfg.Rank, peer, data))
}

func overflowed(src, dst int, b []byte) string {
	return fmt.Sprintf("rank %d sent a %v of %d bytes to rank %d, whose %d bytes for %[2]vs were full", src, conduit.Class(b[0]),
		binary.LittleEndian.Uint32(b[4:]), dst, binary.LittleEndian.Uint64(b[8:]))
}

// departingPeer is a peer that is to be forgotten, and when: if it has said good-bye, then it has heard by then that it
// was heard.
type departingPeer struct {
	peer   int
	at     time.Duration
	reason error
}

// forgetDue drops peers whose time has come; what was on its way to them ends. Under engine.
func (c *Conduit) forgetDue() {
	for len(c.departing) > 0 && c.departing[0].at <= c.now {
		l := c.departing[0]
		c.departing = c.departing[1:]
		c.core.Remove(l.peer, l.reason)
	}
}

// forgetAll ends what is still on its way when background progress gives up.
func (c *Conduit) forgetAll() {
	c.engine.Lock()
	defer c.engine.Unlock()
	for p := range c.peers {
		if ln := c.peers[p].Load(); ln != nil && ln.known {
			c.core.Remove(p, conduit.ErrClosed)
		}
	}
}
