package udp

import (
	"encoding/binary"
	"time"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/reliable"
)

// Close implements conduit.Conduit. It waits, Config.Linger at most, until what has left is acknowledged; what waits
// for a peer to make room, and the last farewell, are left to the keeper for as long again.
func (c *Conduit) Close() error {
	if !c.fails.Close() {
		return nil
	}
	c.keeper.nudge()
	c.wire.Wake() // the sleeper, or the keeper
	c.poll.Lock()
	//lint:ignore SA2001 it waits for a Poll that is under way
	c.poll.Unlock()
	c.ring()
	<-c.keeper.flushed
	return nil
}

// linger goes on after Close until all peers know of it.
func (k *keeper) linger() {
	c := k.c
	start := c.clock()
	flushed := false
	for {
		c.poll.Lock()
		c.discard()
		c.pass(false)
		calm, done := c.farewell()
		c.poll.Unlock()
		now := c.clock()
		if !flushed && (calm || now-start > c.cfg.Linger) {
			flushed = true
			close(k.flushed)
		}
		if done || now-start > 2*c.cfg.Linger {
			break
		}
		c.sleep.role.Lock()
		c.wire.Wait(c.base.Add(min(max(time.Duration(c.due.Load()), now+tick), now+closingTick)))
		c.sleep.role.Unlock()
	}
	if !flushed {
		close(k.flushed)
	}
	k.stayForOthers()
	c.forgetAll()
	_ = c.wire.Close() // nobody is left to be told
}

// stayForOthers answers peers that have not heard the last acknowledgement.
func (k *keeper) stayForOthers() {
	c := k.c
	for end := c.clock() + 2*closingTick; c.clock() < end; {
		c.wire.Wait(c.base.Add(end))
		c.poll.Lock()
		c.pass(false)
		c.poll.Unlock()
	}
}

// discard takes what nobody will. Under poll.
func (c *Conduit) discard() {
	var a arrival
	for c.ready.n > 0 {
		k := c.ready.pop()
		for in := &c.lanes[k/2].in[k%2]; in.pop(&a); {
			a.src = k / 2
			c.take(&a)
		}
	}
	r := &c.recv
	for ; r.next < len(r.arrivals); r.next++ {
		c.take(&r.arrivals[r.next])
	}
}

// farewell says good-bye where everything has left. calm: all that has left is acknowledged; done: all good-byes, too. Under poll.
func (c *Conduit) farewell() (calm, done bool) {
	c.engine.Lock()
	defer c.release()
	calm, done = true, true
	for p := range c.lanes {
		ln := &c.lanes[p]
		if !ln.known || c.fails.Lost(p) {
			continue
		}
		if !ln.saidBye && ln.stage.empty() && ln.bulk.next() == nil {
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], ln.stage.all.Load()+ln.bulk.sent.Load())
			ln.saidBye = c.core.Send(p, reliable.Message{Data: b[:], Tag: tagBye, Urgent: true}, c.now) == reliable.Copied
		}
		idle := c.core.Idle(p)
		calm = calm && idle
		done = done && idle && ln.saidBye
	}
	c.turn()
	return calm, done
}

// heardBye takes in a peer's good-bye, which says how much it has sent in all.
func (c *Conduit) heardBye(peer int, data []byte) {
	if len(data) != 8 {
		c.recv.malformed++
		return
	}
	ln := &c.lanes[peer]
	ln.bye, ln.byeAt = true, binary.LittleEndian.Uint64(data)
	c.byeIfAll(peer)
}

// byeIfAll ends a peer that has said good-bye once all that it sent is here.
func (c *Conduit) byeIfAll(peer int) {
	if ln := &c.lanes[peer]; ln.bye && ln.arrived >= ln.byeAt && !c.fails.Lost(peer) {
		c.fail(peer, conduit.ErrPeerClosed, "")
		c.leaving = append(c.leaving, leaver{peer, c.now + 2*closingTick, conduit.ErrPeerClosed})
	}
}

// leaver is a peer that is to be forgotten, and when: if it has said good-bye, then it has heard by then that it was heard.
type leaver struct {
	peer   int
	at     time.Duration
	reason error
}

// forget drops peers whose time has come; what was on its way to them ends. Under engine.
func (c *Conduit) forget() {
	for len(c.leaving) > 0 && c.leaving[0].at <= c.now {
		l := c.leaving[0]
		c.leaving = c.leaving[1:]
		c.core.Remove(l.peer, l.reason)
	}
}

// forgetAll ends what is still on its way when the keeper gives up.
func (c *Conduit) forgetAll() {
	c.engine.Lock()
	defer c.engine.Unlock()
	for p := range c.lanes {
		if c.lanes[p].known {
			c.core.Remove(p, conduit.ErrClosed)
		}
	}
}
