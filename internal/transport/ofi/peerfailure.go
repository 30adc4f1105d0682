//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"fmt"
	"time"

	"github.com/golci/golci/conduit"
)

// Under mu, all but Suspect.

// failPeer puts a peer out of reach. What waits to be sent to it is given up, but for the answer to its farewell.
func (c *Conduit) failPeer(p *peer, reason error, detail string) {
	if c.fails.Lost(p.rank) {
		return
	}
	c.lostSome = true
	c.fails.Add(p.rank, reason, detail)
	c.connecting, c.suspects, c.used = without(c.connecting, p), without(c.suspects, p), without(c.used, p)
	for _, at := range []**slot{&p.reserved, &p.chunk} {
		if *at != nil {
			c.lateSlot(*at)
			*at = nil
		}
	}
	old := p.out
	p.out = queue{}
	for s := old.popSlot(); s != nil; s = old.popSlot() {
		if s.kind == kindByeAck && s.use == sending && s.op == nil {
			p.out.pushSlot(s)
			continue
		}
		c.dropSlot(s)
	}
	for i := len(c.flying) - 1; i >= 0; i-- {
		if s := c.flying[i]; s.peer == p.rank && s.op.since.IsZero() {
			s.op.since = time.Now()
		}
	}
}

// lateSlot keeps a reserved slot out of use for good: its caller may still write into it.
func (c *Conduit) lateSlot(s *slot) { s.use = unused }

// peerLost takes in that the library does not get through to a peer any more.
func (c *Conduit) peerLost(p *peer, err error) {
	switch {
	case p.bye:
		p.acked = true // it has gone
		c.failPeer(p, conduit.ErrPeerClosed, "")
	case p.connected:
		p.acked = true
		c.failPeer(p, conduit.ErrPeerDied, err.Error())
	default:
		p.acked = true
		c.failPeer(p, conduit.ErrUnreachable, c.connText(p)+": "+err.Error())
	}
}

// connText names both ends of a connection, for people.
func (c *Conduit) connText(p *peer) string {
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

// failOverdue fails peers that have not taken a first message, or not answered, for too long.
func (c *Conduit) failOverdue(now time.Time) {
	for i := len(c.connecting) - 1; i >= 0; i-- {
		if p := c.connecting[i]; now.Sub(p.since) > c.cfg.Connect {
			c.failPeer(p, conduit.ErrUnreachable, fmt.Sprintf("%s: no connection within %v", c.connText(p), c.cfg.Connect))
		}
	}
	for i := len(c.suspects) - 1; i >= 0; i-- {
		if p := c.suspects[i]; now.Sub(p.asked) > p.patience {
			c.failPeer(p, conduit.ErrPeerDied, fmt.Sprintf("no answer within %v", p.patience))
		}
	}
}

// Suspect implements conduit.Suspecter.
func (c *Conduit) Suspect(to int) {
	if c.reachablePeer(to) == nil || to == c.cfg.Rank {
		return
	}
	c.reportedDead.addSuspect(to)
	c.Wake() // the sleeper makes a pass, and heeds the time
	c.sleep.stir()
}

// askDoubted wants a sign of life soon of peers that are said to be dead.
func (c *Conduit) askDoubted() {
	for _, to := range c.reportedDead.takeSuspects() {
		if p := c.reachablePeer(to); p != nil {
			c.askPeer(p, c.cfg.Silence)
			p.suspected = !p.asked.IsZero()
		}
	}
}

// askPeer wants a sign of life of a peer within d.
func (c *Conduit) askPeer(p *peer, d time.Duration) {
	switch {
	case c.down:
	case p.asked.IsZero():
		p.asked, p.patience = time.Now(), d
		c.suspects = append(c.suspects, p)
		c.tellPeer(p, kindPing)
	default:
		p.patience = min(p.patience, time.Since(p.asked)+d)
	}
}

// noteUse notes that something is exchanged with a peer.
func (c *Conduit) noteUse(p *peer) {
	if !p.known && p.rank != c.cfg.Rank {
		p.known, p.heard = true, c.ticks
		c.used = append(c.used, p)
	}
}

// quietTime is how long a peer may be silent before it is asked for a sign of life.
func (c *Conduit) quietTime() time.Duration { return min(c.cfg.DeadAfter/10, time.Second) }

// onTick is called every keepTick. It asks the peers that have been silent too long, and tells whether there are some.
func (c *Conduit) onTick() (asked bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ticks++
	for i := len(c.used) - 1; i >= 0; i-- { // a question that cannot be sent takes its peer out of the list
		p := c.used[i]
		silent := time.Duration(c.ticks-p.heard) * c.keepTick()
		if silent > c.quietTime() && p.asked.IsZero() {
			c.askPeer(p, c.cfg.DeadAfter-min(silent, c.cfg.DeadAfter/2))
			asked = true
		}
	}
	return asked
}
