package udp

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"time"

	"github.com/golci/golci/internal/transport/reliable"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// refusedDatagrams is how many that have come back are taken in at once.
const refusedDatagrams = 16

// comeBack takes in datagrams that have come back. Under poll and engine.
func (c *Conduit) comeBack() {
	for i := range c.recv.back[:c.wire.Refused(c.recv.back)] {
		d := &c.recv.back[i]
		c.cameBack(d.Buf[:d.N], d.Addr)
	}
}

// cameBack takes in that a datagram has come back. Anybody can say that of a datagram that he has seen, and nobody else
// can: its beginning cannot be guessed.
func (c *Conduit) cameBack(quote []byte, from netip.AddrPort) {
	peer := seal.Addressee(quote)
	if uint(peer) >= uint(c.cfg.Size) {
		return
	}
	ln := c.peers[peer].Load()
	if ln == nil || !ln.known {
		return
	}
	number, ok := ln.sender.Sent(quote)
	way := slices.IndexFunc(ln.paths[:ln.route.paths], func(p Path) bool { return p.Addr == from })
	if !ok || way < 0 {
		return
	}
	c.recv.returned++
	ln.route.doubt = true
	c.core.Refused(peer, way, number, c.now)
}

// heardDeath takes in that another rank has found one dead.
func (c *Conduit) heardDeath(data []byte) {
	if len(data) != deathBytes {
		c.recv.malformed++
		return
	}
	dead := binary.LittleEndian.Uint32(data)
	if uint64(dead) >= uint64(c.cfg.Size) {
		c.recv.malformed++
		return
	}
	c.suspect(int(dead))
}

// Suspect implements conduit.Suspecter.
func (c *Conduit) Suspect(peer int) {
	c.engine.Lock()
	defer c.releaseEngine()
	c.now = c.clock()
	c.suspect(peer)
	c.turn()
	c.background.expectAt(time.Duration(c.due.Load()))
}

// suspect has spread tell of a peer, a rank of the job. Under engine.
func (c *Conduit) suspect(peer int) {
	if peer != c.cfg.Rank && !c.fails.Lost(peer) {
		c.deaths = append(c.deaths, int32(peer))
	}
}

const deathBytes = 4

// spreadDeaths passes on which ranks are dead, once each, to those that package deathnotice names. A rank that has it
// from others asks the dead one itself. Under engine.
func (c *Conduit) spreadDeaths() {
	dead := c.deaths
	c.deaths = c.deaths[:0]
	if c.isClosed() {
		return
	}
	for _, p := range dead {
		peer := int(p)
		if !c.fails.Lost(peer) && c.know(peer) {
			c.core.Suspect(peer, c.now)
		}
		c.mourn(peer)
	}
}

func (c *Conduit) mourn(peer int) {
	var b [deathBytes]byte
	binary.LittleEndian.PutUint32(b[:], uint32(peer))
	for _, to := range c.notices.Hear(peer) {
		if !c.fails.Lost(to) && c.know(to) {
			c.core.Send(to, reliable.Message{Data: b[:], Tag: tagDeath, Urgent: true}, c.now) // in vain if it has no room
		}
	}
}
