//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"errors"
	"time"

	"github.com/golci/golci/conduit"
)

const (
	closingLook = 200 * time.Microsecond // while Close waits, and after it
	afterwards  = 4                      // how much longer than Linger the conduit then goes on, at most
	tellAll     = 64                     // ranks of a job in which strangers hear of the end, too: each costs a connection
)

// Close implements conduit.Conduit. It waits, Config.Linger at most, until what has been sent has left and operations
// are over. Operations that are not by then are given up, and with them the endpoint. Otherwise that goes on until the
// peers have heard of the end.
func (c *Conduit) Close() error {
	if !c.fails.Close() {
		return nil
	}
	c.closed.Store(true)
	signal(c.sleep.bells.sleeper)
	c.sleep.stir()
	if c.sleep.armed.CompareAndSwap(true, false) {
		c.sleep.bell()
	}
	c.polling.Lock() // a Poll that is under way ends
	defer c.polling.Unlock()
	calm := c.windDown(time.Now().Add(c.cfg.Linger), func() bool { return c.sends+len(c.flying)+len(c.busy) == 0 })
	c.mu.Lock()
	done := calm && c.allHeard()
	abandon := len(c.flying) > 0
	c.mu.Unlock()
	var err error
	if done || abandon {
		err = c.shutEndpoint()
	} else {
		go func() {
			c.windDown(time.Now().Add(afterwards*c.cfg.Linger), c.allHeard)
			_ = c.shutEndpoint() // nobody is left to be told
		}()
	}
	c.tellEnded()
	return err
}

// windDown says good-bye and goes on until done, which is called under mu, says so.
func (c *Conduit) windDown(end time.Time, done func() bool) bool {
	for {
		c.mu.Lock()
		c.sayFarewell()
		c.discardArrived()
		c.makeProgress(16 * batch)
		over := done()
		c.mu.Unlock()
		if over || time.Now().After(end) {
			return over
		}
		time.Sleep(closingLook)
	}
}

// sayFarewell tells peers how much was sent in all. Under mu, as what follows.
func (c *Conduit) sayFarewell() {
	for i := range c.peers {
		if p := &c.peers[i]; (p.known || c.cfg.Size <= tellAll) && !p.byeSent && i != c.cfg.Rank && !c.fails.Lost(i) {
			p.byeSent = true
			c.tellPeer(p, kindBye, p.count)
		}
	}
}

// allHeard tells whether all peers have all that was sent, or have gone.
func (c *Conduit) allHeard() bool {
	for i := range c.peers {
		if p := &c.peers[i]; p.byeSent && !p.acked {
			return false
		}
	}
	return c.sends+len(c.busy) == 0
}

// discardArrived drops what has come and was not delivered.
func (c *Conduit) discardArrived() {
	for !c.turns.isEmpty() {
		p := c.turns.popPeer()
		for p.turn = false; p.in.first != nil; {
			e := p.in.popEntry()
			c.ready.Add(-1)
			all := []delivery{e.delivery}
			c.settleDelivered(all)
		}
	}
}

// shutEndpoint ends the endpoint. Operations that were under way are given up.
func (c *Conduit) shutEndpoint() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		return nil
	}
	c.down = true
	err := c.endAll()
	for len(c.flying) > 0 {
		s := c.flying[0]
		c.endSlot(s, &conduit.PeerError{Peer: s.peer, Err: conduit.ErrClosed})
	}
	return err
}

// endAll takes all memory back from the library, and closes the endpoint.
func (c *Conduit) endAll() error {
	switch {
	case len(c.sharedEndpoint) > 0:
		return errors.Join(c.forgetMemory(), c.slab.forgetMemory(c.ep), leave(c.sharedEndpoint))
	case c.info.ByEndpoint:
		return errors.Join(c.forgetMemory(), c.slab.forgetMemory(c.ep), c.ep.Close())
	}
	return errors.Join(c.ep.CloseEndpoint(), c.forgetMemory(), c.slab.forgetMemory(c.ep), c.ep.Close())
}

// tellEnded tells of the operations that nobody polls for any more.
func (c *Conduit) tellEnded() {
	for {
		c.mu.Lock()
		if len(c.ended) == 0 {
			c.mu.Unlock()
			return
		}
		x := c.ended[0]
		c.ended = c.ended[1:]
		c.ready.Add(-1)
		c.mu.Unlock()
		x.to.Completed(x.n, x.err)
	}
}
