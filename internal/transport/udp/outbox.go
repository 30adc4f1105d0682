package udp

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/reliable"
	"github.com/golci/golci/internal/transport/udp/mmsg"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// headerSize is what a datagram carries between seal's header and the core's packet: the cost of the records of this
// peer that the sender has served, in 64 bits, and how many bytes of bulk data it has taken, the low 32 bits;
// big-endian.
const headerSize = 12

// mostOverhead bounds what a datagram has beside a record.
const mostOverhead = seal.HeaderSize + seal.TagSize + headerSize + 64

// maxDatagrams is how many datagrams, and arenaBytes how many bytes, one call of the system takes.
const (
	maxDatagrams = 64
	arenaBytes   = 512 << 10
	// callBytes is how much is made before it is sent: the peer can open the one while this rank makes the next.
	callBytes = 128 << 10
)

// outbox makes datagrams of the core's packets. Under engine.
type outbox struct {
	c     *Conduit
	arena []byte
	used  int
	batch []mmsg.Datagram
	peers []int32 // of batch
	gso   bool
	face  reliable.Out // itself, or in a form that takes data from where they lie
	full  bool         // the socket took no more
	tails bool         // some of batch have their data elsewhere
	sent  bool         // something left in this turn
	waits int          // bytes handed to the core and not yet asked for
	last  time.Duration
	end   int // where the last of batch ends, if another may join it; else -1
	at    int // where the datagram that Room gave begins

	datagrams, failed uint64
}

func (o *outbox) initOutbox(c *Conduit) {
	o.c = c
	o.face = o
	if c.cfg.Mode == seal.Trust {
		o.face = gatherer{o}
	}
	o.arena = make([]byte, arenaBytes)
	o.batch = make([]mmsg.Datagram, 0, maxDatagrams)
	o.peers = make([]int32, 0, maxDatagrams)
	o.gso = c.wire.Info().GSO
}

// Room implements reliable.Out.
func (o *outbox) Room(_, n int) []byte {
	need := n + o.c.box.Overhead() + headerSize
	if o.used+need > callBytes && o.used > 0 || len(o.batch) == cap(o.batch) {
		o.flushBatch()
		if len(o.arena)-o.used < need || len(o.batch) == cap(o.batch) {
			return nil
		}
	}
	o.at = o.used
	return o.arena[o.at+seal.HeaderSize+headerSize:][:n]
}

// Packet implements reliable.Out.
func (o *outbox) Packet(peer int, number uint64, _ reliable.Channel, packet []byte) {
	if d := o.sealed(peer, number, packet, nil); d != nil && !o.joinSegment(peer, d) {
		o.addDatagram(peer, mmsg.Datagram{Buf: d})
	}
}

// addDatagram puts a datagram to peer into the batch.
func (o *outbox) addDatagram(peer int, d mmsg.Datagram) {
	ln := o.c.peerState(peer)
	d.Addr = ln.paths[ln.route.path(ln.datagrams, o.c.now)].Addr
	o.batch = append(o.batch, d)
	o.peers = append(o.peers, int32(peer))
	if o.end = -1; d.Tail == nil {
		o.end = o.used
	}
}

// sealed makes a datagram of a packet, in place, that goes on in tail; nil if it cannot be.
func (o *outbox) sealed(peer int, number uint64, packet, tail []byte) []byte {
	c, ln := o.c, o.c.peerState(peer)
	end := o.at + len(packet) + o.c.box.Overhead() + headerSize
	d := o.arena[o.at:end:end]
	ln.told, ln.toldBulk = ln.served.Load(), ln.bulkTaken.Load()
	binary.BigEndian.PutUint64(d[seal.HeaderSize:], ln.told)
	binary.BigEndian.PutUint32(d[seal.HeaderSize+8:], ln.toldBulk)
	if err := ln.sender.SealParts(d, tail, number); err != nil {
		c.giveUp(peer, conduit.ErrCorrupt, err.Error())
		return nil
	}
	o.used = end
	o.sent = true
	ln.datagrams++
	return d
}

// gatherer is an outbox for datagrams that need no protection: their data are sent from where they lie. Small
// datagrams are an exception: they are copied one behind the other, and the kernel splits the result.
type gatherer struct{ *outbox }

// gatherFrom is how large the datagrams to a peer must be.
const gatherFrom = 16 << 10

// Room implements reliable.Out.
func (g gatherer) Room(peer, n int) []byte {
	// At least so much that a piece can be copied if the datagrams have become small when it comes.
	return g.outbox.Room(peer, max(n, min(g.c.coreMTU(g.c.peerState(peer).mtu), gatherFrom)))
}

// PacketOf implements reliable.Gather.
func (g gatherer) PacketOf(peer int, number uint64, ch reliable.Channel, packet, data []byte) {
	if g.c.peerState(peer).mtu < gatherFrom {
		g.Packet(peer, number, ch, append(packet, data...))
		return
	}
	if d := g.sealed(peer, number, packet, data); d != nil {
		g.addDatagram(peer, mmsg.Datagram{Buf: d, Tail: data})
		g.tails = true
	}
}

// dropTails gives datagrams up that the socket had no room for and whose data may soon not be theirs any more. To the
// core they are lost.
func (o *outbox) dropTails() {
	n := 0
	for i, d := range o.batch {
		if d.Tail == nil {
			o.batch[n], o.peers[n] = d, o.peers[i]
			n++
		}
	}
	o.failed += uint64(len(o.batch) - n)
	clear(o.batch[n:])
	o.batch, o.peers = o.batch[:n], o.peers[:n]
	o.tails, o.end = false, -1
	o.full = o.full && n > 0
}

// joinSegment makes d a further segment of the last datagram, if that goes to the same peer and ends where d begins.
func (o *outbox) joinSegment(peer int, d []byte) bool {
	n := len(o.batch)
	if !o.gso || n == 0 || int(o.peers[n-1]) != peer || o.end != o.used-len(d) {
		return false
	}
	l := &o.batch[n-1]
	size := l.Segment
	if size == 0 {
		size = len(l.Buf)
	}
	all := len(l.Buf) + len(d)
	if len(d) > size || len(l.Buf)%size != 0 || len(l.Buf)/size >= mmsg.MaxSegments || all > mmsg.MaxPayload {
		return false
	}
	start := o.used - all
	l.Buf = o.arena[start:o.used:o.used]
	l.Segment = size
	o.end = o.used
	return true
}

// flushBatch hands the datagrams to the system.
func (o *outbox) flushBatch() {
	o.full = false
	n := len(o.batch)
	if n == 0 {
		return
	}
	i := 0
	for i < n && !o.full {
		k, err := o.c.wire.Send(o.batch[i:])
		i += k
		switch {
		case err != nil:
			o.refused(i, err)
			i++
		case i < n:
			o.full = true
		}
	}
	o.last = o.c.now
	o.datagrams += uint64(i)
	o.dropFirst(i)
	if o.tails {
		o.dropTails()
	}
	if len(o.batch) == 0 {
		o.used = 0
	}
}

// dropFirst drops the first i datagrams.
func (o *outbox) dropFirst(i int) {
	n := copy(o.batch, o.batch[i:])
	clear(o.batch[n:])
	o.batch = o.batch[:n]
	copy(o.peers, o.peers[i:])
	o.peers = o.peers[:n]
}

// datagramSize is the length of one datagram that the system was given.
func datagramSize(d *mmsg.Datagram) int {
	if d.Segment > 0 {
		return d.Segment
	}
	return len(d.Buf) + len(d.Tail)
}

// refused deals with a datagram that the system does not take. To the core it is lost, and comes again.
func (o *outbox) refused(i int, err error) {
	peer := int(o.peers[i])
	switch {
	case errors.Is(err, mmsg.ErrNoGSO):
		o.gso = false
	case errors.Is(err, mmsg.ErrTooBig):
		o.c.shrink(peer, datagramSize(&o.batch[i]))
	}
	o.failed++
}
