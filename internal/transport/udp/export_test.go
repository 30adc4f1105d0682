package udp

import (
	"net/netip"

	"github.com/golci/golci/internal/transport/receivepool"
)

// ConnectedTo is where the socket is connected to; zero: it is not.
func (c *Conduit) ConnectedTo() netip.AddrPort { return c.wire.Info().Peer }

// Undelivered is how many records have come and wait for a Poll that takes them.
func (c *Conduit) Undelivered() (n int) {
	c.poll.Lock()
	defer c.poll.Unlock()
	for _, q := range []receivepool.Queue{receivepool.SYS, receivepool.SAFE, receivepool.AM} {
		n += c.recv.waits(q)
	}
	return n
}

// Waits reports whether a record waits for company.
func (c *Conduit) Waits() bool {
	c.engine.Lock()
	defer c.engine.Unlock()
	return c.heldAt > 0
}
