//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"fmt"
	"time"

	"github.com/golci/golci/comm/conduit"
)

// Under mu, all but Suspect.

// fail puts a peer out of reach. What waits to be sent to it is given up, but for the answer to its farewell.
func (c *Conduit) fail(p *peer, reason error, detail string) {
	if c.fails.Lost(p.rank) {
		return
	}
	c.lostSome = true
	c.fails.Add(p.rank, reason, detail)
	c.connecting, c.suspects = without(c.connecting, p), without(c.suspects, p)
	for _, at := range []**slot{&p.reserved, &p.chunk} {
		if *at != nil {
			c.lateSlot(*at)
			*at = nil
		}
	}
	old := p.out
	p.out = queue{}
	for s := old.pop(); s != nil; s = old.pop() {
		if s.kind == kindByeAck && s.use == sending && s.op == nil {
			p.out.push(s)
			continue
		}
		c.drop(s)
	}
	for i := len(c.flying) - 1; i >= 0; i-- {
		if s := c.flying[i]; s.peer == p.rank && s.op.since.IsZero() {
			s.op.since = time.Now()
		}
	}
}

// lateSlot keeps a reserved slot out of use for good: its caller may still write into it.
func (c *Conduit) lateSlot(s *slot) { s.use = unused }

// lost takes in that the library does not get through to a peer any more.
func (c *Conduit) lost(p *peer, err error) {
	switch {
	case p.bye:
		p.acked = true // it has gone
		c.fail(p, conduit.ErrPeerClosed, "")
	case p.connected:
		p.acked = true
		c.fail(p, conduit.ErrPeerDied, err.Error())
	default:
		p.acked = true
		c.fail(p, conduit.ErrUnreachable, c.between(p)+": "+err.Error())
	}
}

// between names both ends of a connection, for people.
func (c *Conduit) between(p *peer) string {
	return fmt.Sprintf("%s, domain %s, from %s to %s", c.info.Provider, c.info.Domain,
		c.ep.Address(c.names[c.cfg.Rank]), c.ep.Address(c.names[p.rank]))
}

// reasonFor is why an operation on memory of a peer has not been made.
func (c *Conduit) reasonFor(p int) error {
	if err := c.fails.Failed(p); err != nil {
		return err
	}
	return &conduit.PeerError{Peer: p, Err: conduit.ErrClosed}
}

// overdue fails peers that have not taken a first message, or not answered, for too long.
func (c *Conduit) overdue(now time.Time) {
	for i := len(c.connecting) - 1; i >= 0; i-- {
		if p := c.connecting[i]; now.Sub(p.since) > c.cfg.Connect {
			c.fail(p, conduit.ErrUnreachable, fmt.Sprintf("%s: no connection within %v", c.between(p), c.cfg.Connect))
		}
	}
	for i := len(c.suspects) - 1; i >= 0; i-- {
		if p := c.suspects[i]; now.Sub(p.asked) > c.cfg.Silence {
			c.fail(p, conduit.ErrPeerDied, fmt.Sprintf("no answer within %v", c.cfg.Silence))
		}
	}
}

// Suspect implements conduit.Suspecter.
func (c *Conduit) Suspect(to int) {
	p := c.reach(to)
	if p == nil || to == c.cfg.Rank {
		return
	}
	c.mu.Lock()
	if p.asked.IsZero() && !c.down {
		p.asked = time.Now()
		c.suspects = append(c.suspects, p)
		c.tell(p, kindPing)
	}
	c.mu.Unlock()
	c.Wake() // the sleeper heeds the time
	c.nap.stir()
}
