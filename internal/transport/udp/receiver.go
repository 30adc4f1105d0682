package udp

import (
	"encoding/binary"
	"net/netip"
	"time"
	"unsafe"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/receivepool"
	"github.com/golci/golci/internal/transport/tickets"
	"github.com/golci/golci/internal/transport/udp/mmsg"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// recvDatagrams is how many datagrams one call of the system fills; a joined one counts as one.
const (
	recvDatagrams = 16
	recvBytes     = 64 << 10
)

// receiver takes datagrams from the socket. Under poll.
type receiver struct {
	batch []mmsg.Datagram
	back  []mmsg.Datagram // room for what comes back
	// arrivals are what the last batch brought, as long as it lies in the batch; next is the first not delivered.
	// What does not lie there waits in the pool.
	arrivals [receivepool.Queues][]receivepool.Entry
	next     [receivepool.Queues]int
	pool     *receivepool.Pool
	now      []byte // the packet that the core looks at
	fresh    bool   // a pass has been made for the next Poll
	idle     uint64 // passes that have received nothing
	later    bool   // the last pass has left its turn to the next

	datagrams, truncated, malformed, overflows, returned uint64
}

func (r *receiver) initReceiver(c *Conduit) {
	r.batch = make([]mmsg.Datagram, recvDatagrams)
	buf := make([]byte, recvDatagrams*recvBytes)
	for i := range r.batch {
		r.batch[i].Buf = buf[i*recvBytes : (i+1)*recvBytes : (i+1)*recvBytes]
	}
	r.back = make([]mmsg.Datagram, refusedDatagrams)
	for i := range r.back {
		r.back[i].Buf = make([]byte, seal.HeaderSize)
	}
	for q := range r.arrivals {
		r.arrivals[q] = make([]receivepool.Entry, 0, mostArrivals[q])
	}
	r.pool = c.cfg.pool(&c.g)
}

// mostArrivals are how many entries of each queue are kept where they lie.
var mostArrivals = [...]int{receivepool.SYS: 128, receivepool.SAFE: 256, receivepool.AM: 512, receivepool.Bulk: 128}

// waits is how many entries of a queue wait.
func (r *receiver) waits(q receivepool.Queue) int {
	return r.pool.Len(q) + len(r.arrivals[q]) - r.next[q]
}

func (r *receiver) waiting() bool {
	return r.waits(receivepool.SYS)|r.waits(receivepool.SAFE)|r.waits(receivepool.AM)|r.waits(receivepool.Bulk) != 0
}

// passOnce receives once and moves everything on, for a user or for background progress. Under poll; it takes engine.
func (c *Conduit) passOnce(user bool) {
	c.stow()
	r := &c.recv
	n, err := c.wire.Recv(r.batch) // an error is that of a closed socket, or says that datagrams have come back
	if n == 0 && err == nil && user && c.nothingNew() {
		return
	}
	c.engine.Lock()
	c.now = c.clock()
	if user {
		c.polled = c.now
	}
	for i := range r.batch[:n] {
		c.openDatagram(&r.batch[i])
	}
	if err != nil {
		c.comeBack()
	}
	c.payDebts(user)
	// What has just come is delivered before anything is sent for it: its answer may take that along.
	if user && n > 0 && !r.later && c.waiting() {
		r.later = true
		c.due.Store(int64(c.now)) // who parks now does not stay
	} else if r.later || n > 0 || c.dirties.Load() > 0 || c.held.Load() || c.core.NextTimer() <= c.now {
		r.later = false
		c.turn()
	} else {
		c.schedule()
	}
	c.zeroCopy.collectEnded()
	c.releaseEngine()
}

// idlePasses is how many passes that find nothing go by between looks at the clock.
const idlePasses = 8

// nothingNew tells whether a pass that has received nothing may end there. Under poll.
func (c *Conduit) nothingNew() bool {
	r := &c.recv
	r.idle++
	return r.idle%idlePasses != 0 && !r.later && !c.held.Load() && c.dirties.Load() == 0 && !c.zeroCopy.hasEnded.Load()
}

// openDatagram takes in one datagram as the socket gave it, or several that the kernel joined.
func (c *Conduit) openDatagram(d *mmsg.Datagram) {
	r := &c.recv
	b := d.Buf[:d.N]
	if d.Truncated {
		r.truncated++
		return
	}
	size := d.Segment
	if size <= 0 {
		size = max(len(b), 1)
	}
	for len(b) > 0 {
		k := min(size, len(b))
		c.packet(b[:k:k], d.Addr)
		b = b[k:]
	}
}

func (c *Conduit) packet(b []byte, from netip.AddrPort) {
	r := &c.recv
	r.datagrams++
	src, _, payload, v := c.box.Open(b)
	if v != seal.Opened {
		return
	}
	if src == c.cfg.Rank || len(payload) < headerSize || !c.know(src) {
		r.malformed++
		return
	}
	c.cameBy(src, from)
	c.heard(src, binary.BigEndian.Uint64(payload), binary.BigEndian.Uint32(payload[8:]))
	ln := c.peerState(src)
	ln.size.heard = true
	c.notices.Alive(src)
	if b := payload[headerSize:]; len(b) > 0 && b[0] == controlByte {
		c.heardControl(src, b)
		return
	}
	r.now = payload[headerSize:]
	c.core.Incoming(src, r.now, c.now)
	r.now = nil
}

// Message implements reliable.Sink. Under poll and engine.
func (c *Conduit) Message(peer int, tag uint8, data []byte) {
	switch tag {
	case tagRequest:
		c.acceptRecord(receivepool.AM, peer, data)
	case tagReply:
		c.acceptRecord(receivepool.SAFE, peer, data)
	case tagSystem:
		c.acceptRecord(receivepool.SYS, peer, data)
	case tagBye:
		c.heardBye(peer, data)
	case tagDeath:
		c.heardDeath(data)
	case tagOverflow:
		c.heardOverflow(peer, data)
	default:
		c.recv.malformed++
	}
}

// acceptRecord lets a record in if there is room for it.
func (c *Conduit) acceptRecord(q receivepool.Queue, peer int, data []byte) {
	switch {
	case c.fails.Lost(peer): // given up, and perhaps told of
	case len(data) < conduit.WordBytes || int(uint32(binary.LittleEndian.Uint64(data))) != len(data) || len(data) > c.g.maxRecord:
		c.corrupt(peer, "a record that contradicts its length, or is too long")
	case !c.recv.pool.Admit(q, len(data)):
		c.overflow(q, peer, len(data))
	default:
		c.keepArrived(q, receivepool.Entry{Src: int32(peer), Data: data})
	}
}

// Put implements reliable.Sink. Under poll and engine.
func (c *Conduit) Put(peer int, tag uint8, place, offset uint64, piece []byte) {
	if tag != tagBulk || len(piece) == 0 {
		c.recv.malformed++
		return
	}
	switch ln := c.peerState(peer); {
	case c.fails.Lost(peer):
		return
	case ln.untaken[1]+uint64(len(piece)) > uint64(c.g.slots)*uint64(c.g.chunk):
		c.corrupt(peer, "more bulk data than there is room for")
		return
	}
	c.keepArrived(receivepool.Bulk, receivepool.Entry{Src: int32(peer), ID: place, Off: int64(offset), Data: piece})
}

// keepArrived keeps what has come until it is delivered: where it is, or copied where it cannot stay.
func (c *Conduit) keepArrived(q receivepool.Queue, e receivepool.Entry) {
	ln, r := c.peerState(int(e.Src)), &c.recv
	n := size(q, &e)
	ln.untaken[q/receivepool.Bulk] += n
	ln.arrived += n
	switch {
	case c.isClosed():
		c.noteTaken(q, &e)
	case lies(e.Data, r.now) && len(r.arrivals[q]) < cap(r.arrivals[q]):
		r.arrivals[q] = append(r.arrivals[q], e)
	default:
		r.pool.Push(q, &e)
	}
	c.byeIfAll(int(e.Src))
}

// size is what an entry counts: bulk data their bytes, a record as it did in its sender's stage.
func size(q receivepool.Queue, e *receivepool.Entry) uint64 {
	if q == receivepool.Bulk {
		return uint64(len(e.Data))
	}
	return cost(len(e.Data))
}

// corrupt gives up a peer that sends what none of ours would.
func (c *Conduit) corrupt(peer int, what string) {
	c.recv.malformed++
	c.giveUp(peer, conduit.ErrCorrupt, what)
}

// lies tells whether a lies in b.
func lies(a, b []byte) bool {
	if len(b) == 0 {
		return false
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(a))) - uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return at < uintptr(len(b))
}

// noteTaken notes that an entry has been taken from where it waited.
func (c *Conduit) noteTaken(q receivepool.Queue, e *receivepool.Entry) {
	ln := c.peerState(int(e.Src))
	ln.untaken[q/receivepool.Bulk] -= size(q, e)
	if q == receivepool.Bulk {
		ln.bulkTaken.Store(ln.bulkTaken.Load() + uint32(len(e.Data)))
	} else {
		c.recv.pool.Release(q, len(e.Data))
		if c.window == nil {
			return
		}
		ln.served.Store(ln.served.Load() + uint64(tickets.Of(classOf[q], len(e.Data))))
	}
	if !ln.owes {
		ln.owes = true
		c.owing = append(c.owing, e.Src)
		if len(c.owing) == 1 {
			c.owedAt = 0
			c.debts.Store(true)
		}
	}
}

// patience is how long a peer may be left without news of what was taken, if no other datagram goes there.
const patience = 100 * time.Microsecond

// payDebts tells peers what was taken of theirs, if they have not heard of it in time or may wait for it.
// Under poll and engine.
func (c *Conduit) payDebts(user bool) {
	if len(c.owing) == 0 {
		return
	}
	if c.owedAt == 0 {
		c.owedAt = c.now + patience
	}
	due := c.now >= c.owedAt || !user // who does not poll has nothing to wait for
	kept := c.owing[:0]
	for _, p := range c.owing {
		ln := c.peerState(int(p))
		debt, bulk := ln.served.Load()-ln.told, ln.bulkTaken.Load()-ln.toldBulk
		switch {
		case debt == 0 && bulk == 0 || !ln.known:
		case due || c.cfg.Limits.Scarce(tickets.Cost(debt)) || int(bulk) > c.g.chunk*c.g.slots/4 || c.g.tiny:
			c.core.Answer(int(p))
		default:
			kept = append(kept, p)
			continue
		}
		ln.owes = false
	}
	c.owing = kept
	if due {
		c.owedAt = c.now + patience
	}
	if len(kept) == 0 {
		c.debts.Store(false)
	}
}
