package udp

import (
	"encoding/binary"
	"fmt"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/reliable"
	"github.com/golci/golci/internal/transport/udp/mmsg"
	"github.com/golci/golci/internal/transport/udp/nic"
)

// A datagram may also carry a word of this conduit's own in place of a packet of the core, whose first byte is never
// controlByte:
//
//	controlByte | kind | size (4, big-endian) | zeros
//
// A probe is a datagram of that size, and asks whether it arrives; the answer says that it did.
const (
	controlByte = 0xff
	controlSize = 6

	probeKind  = 1
	answerKind = 2
)

// leastDatagram is the least size of datagrams that serves: the core needs so much.
func (c *Conduit) leastDatagram() int { return c.box.Overhead() + headerSize + reliable.MinMTU }

// measure sets how large the datagrams to a peer are at first.
func (c *Conduit) measure(peer int) {
	ln := c.peerState(peer)
	most := c.box.Overhead() + headerSize + reliable.MaxMTU
	ln.mtu = most
	for _, p := range ln.paths {
		ln.mtu, most = min(ln.mtu, p.Payload), min(most, max(p.Payload, p.Most))
	}
	ln.size.mtu = nic.NewMTU(ln.mtu, most, c.leastDatagram())
	ln.mtu = ln.size.mtu.Payload()
}

// followSize begins to look after the size of datagrams to a peer.
func (c *Conduit) followSize(peer int) {
	c.sized = append(c.sized, int32(peer))
	c.countLarge(peer)
}

// countLarge tells the core what the next smaller datagrams would not hold.
func (c *Conduit) countLarge(peer int) {
	next := c.peerState(peer).size.mtu.Below()
	c.core.CountLarge(peer, max(c.coreMTU(next)-mostOverhead, 0))
}

// judgeSizes looks at what has become of large datagrams.
func (c *Conduit) judgeSizes() {
	c.sizeAt = c.now + sizeEvery
	for _, p := range c.sized {
		if ln := c.peerState(int(p)); ln.known && !c.fails.Lost(int(p)) {
			c.judgeSize(int(p), ln)
		}
	}
}

func (c *Conduit) judgeSize(peer int, ln *peerState) {
	stats := c.core.Stats(peer)
	if ln.size.lookAtLosses(&stats, ln.mtu, func() int { return c.pathPayload(peer) }, c.now) {
		least := controlSize + headerSize + c.box.Overhead()
		c.control(peer, probeKind, least, least)
	}
	c.resize(peer, ln)
	if size, ok := ln.size.probe(c.now); ok {
		c.control(peer, probeKind, size, size)
	}
}

// resize goes over to what the sizer says.
func (c *Conduit) resize(peer int, ln *peerState) {
	n := ln.size.mtu.Payload()
	if n == ln.mtu {
		return
	}
	if err := c.core.SetMTU(peer, c.coreMTU(n)); err != nil {
		c.giveUp(peer, conduit.ErrUnreachable, err.Error())
		return
	}
	ln.mtu = n
	c.countLarge(peer)
}

// shrink makes the datagrams to a peer as small as its paths now are: one of size bytes was refused.
func (c *Conduit) shrink(peer, size int) {
	ln := c.peerState(peer)
	if !ln.size.mtu.TooBig(size, c.pathPayload(peer), c.now) {
		c.giveUp(peer, conduit.ErrUnreachable,
			fmt.Sprintf("the system refuses a datagram of %d bytes, and the least that serves is %d: the MTU is too small", size, c.leastDatagram()))
		return
	}
	c.resize(peer, ln)
}

// pathPayload asks the system how large the datagrams to a peer may be; 0 if it does not say.
func (c *Conduit) pathPayload(peer int) (least int) {
	ask := c.cfg.Payload
	if ask == nil {
		ask = mmsg.PathPayload
	}
	for _, p := range c.peerState(peer).paths {
		if n, err := ask(p.Addr); err == nil && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// control sends a word of the conduit's own, in a datagram of n bytes if that is more than it takes.
func (c *Conduit) control(peer int, kind byte, size, n int) {
	o := &c.out
	n = max(n-c.box.Overhead()-headerSize, controlSize)
	b := o.Room(peer, n)
	if b == nil {
		return
	}
	clear(b)
	b[0], b[1] = controlByte, kind
	binary.BigEndian.PutUint32(b[2:], uint32(size))
	if d := o.sealed(peer, c.core.Number(peer), b, nil); d != nil {
		o.addDatagram(peer, mmsg.Datagram{Buf: d})
	}
}

// heardControl takes in such a word. Under poll and engine.
func (c *Conduit) heardControl(peer int, b []byte) {
	if len(b) < controlSize {
		c.recv.malformed++
		return
	}
	size := int(binary.BigEndian.Uint32(b[2:]))
	switch ln := c.peerState(peer); b[1] {
	case probeKind:
		if size == len(b)+headerSize+c.box.Overhead() {
			c.control(peer, answerKind, size, 0)
			c.held.Store(true)
		}
	case answerKind:
		if ln.size.probeAnswered(size, c.now) {
			c.resize(peer, ln)
		}
	}
}
