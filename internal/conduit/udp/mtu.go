package udp

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/conduit/udp/mmsg"
	"github.com/golci/golci/internal/conduit/udp/nic"
	"github.com/golci/golci/internal/reliable"
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

const (
	sizeEvery  = 50 * time.Millisecond // between looks at what became of large datagrams
	answerLast = time.Second           // a probe without an answer until then is lost
)

// sizer finds how large the datagrams to one peer may be. Under engine.
type sizer struct {
	mtu           *nic.MTU
	arrived, lost uint64        // large segments, of the core's counts
	probed        int           // size of the probe that is not answered, or 0
	at            time.Duration // when it left
	heard         bool          // something came from the peer since the last look
}

// leastDatagram is the least size of datagrams that serves: the core needs so much.
func (c *Conduit) leastDatagram() int { return c.box.Overhead() + headerSize + reliable.MinMTU }

// measure sets how large the datagrams to a peer are at first.
func (c *Conduit) measure(peer int) {
	ln := c.lane(peer)
	most := c.box.Overhead() + headerSize + reliable.MaxMTU
	ln.mtu = most
	for _, p := range ln.paths {
		ln.mtu, most = min(ln.mtu, p.Payload), min(most, max(p.Payload, p.Most))
	}
	ln.size.mtu = nic.NewMTU(ln.mtu, most, c.leastDatagram())
	ln.mtu = ln.size.mtu.Payload()
}

// follow begins to look after the size of datagrams to a peer.
func (c *Conduit) follow(peer int) {
	c.sized = append(c.sized, int32(peer))
	c.countLarge(peer)
}

// countLarge tells the core what the next smaller datagrams would not hold.
func (c *Conduit) countLarge(peer int) {
	next := c.lane(peer).size.mtu.Below()
	c.core.CountLarge(peer, max(c.coreMTU(next)-mostOverhead, 0))
}

// judgeSizes looks at what has become of large datagrams.
func (c *Conduit) judgeSizes() {
	c.sizeAt = c.now + sizeEvery
	for _, p := range c.sized {
		if ln := c.lane(int(p)); ln.known && !c.fails.Lost(int(p)) {
			c.judgeSize(int(p), ln)
		}
	}
}

func (c *Conduit) judgeSize(peer int, ln *lane) {
	z, s := &ln.size, c.core.Stats(peer)
	m := z.mtu
	if s.LargeArrived != z.arrived {
		m.Arrived(ln.mtu, c.now)
	} else {
		for range min(s.LargeLost-z.lost, 8) {
			m.TimedOut(ln.mtu, c.now)
		}
		if m.Payload() < ln.mtu {
			m.Told(ln.mtu, c.pathPayload(peer))
		}
		if z.heard {
			m.Arrived(1, c.now)
		} else if s.LargeLost != z.lost { // is it there at all?
			least := controlSize + headerSize + c.box.Overhead()
			c.control(peer, probeKind, least, least)
		}
	}
	z.arrived, z.lost, z.heard = s.LargeArrived, s.LargeLost, false
	if z.probed > 0 && c.now-z.at > answerLast {
		m.TimedOut(z.probed, c.now)
		z.probed = 0
	}
	c.resize(peer, ln)
	if size, ok := m.Probe(c.now); ok {
		z.probed, z.at = size, c.now
		c.control(peer, probeKind, size, size)
	}
}

// resize goes over to what the sizer says.
func (c *Conduit) resize(peer int, ln *lane) {
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
	ln := c.lane(peer)
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
	for _, p := range c.lane(peer).paths {
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
		o.add(peer, mmsg.Datagram{Buf: d})
	}
}

// heardControl takes in such a word. Under poll and engine.
func (c *Conduit) heardControl(peer int, b []byte) {
	if len(b) < controlSize {
		c.recv.malformed++
		return
	}
	size := int(binary.BigEndian.Uint32(b[2:]))
	switch ln := c.lane(peer); b[1] {
	case probeKind:
		if size == len(b)+headerSize+c.box.Overhead() {
			c.control(peer, answerKind, size, 0)
			c.held.Store(true)
		}
	case answerKind:
		if size > 0 && size == ln.size.probed {
			ln.size.probed = 0
			ln.size.mtu.Arrived(size, c.now)
			c.resize(peer, ln)
		}
	}
}
