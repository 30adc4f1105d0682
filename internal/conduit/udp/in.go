package udp

import (
	"encoding/binary"
	"net/netip"
	"time"
	"unsafe"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/conduit/udp/mmsg"
	"github.com/golci/golci/internal/conduit/udp/seal"
)

// recvDatagrams is how many datagrams one call of the system fills; a joined one counts as one.
const (
	recvDatagrams = 16
	recvBytes     = 64 << 10
)

// receiver takes datagrams from the socket. Under poll.
type receiver struct {
	batch []mmsg.Datagram
	// arrivals are what the last batch brought, as long as it lies in the batch; next is the first not delivered.
	arrivals []arrival
	next     int
	now      []byte // the packet that the core looks at
	fresh    bool   // a pass has been made for the next Poll
	idle     uint64 // passes that have received nothing
	later    bool   // the last pass has left its turn to the next

	datagrams, truncated, malformed uint64
}

// arrival is a record or a piece of bulk.
type arrival struct {
	src  int32
	bulk bool
	id   uint64
	off  int64
	data []byte
}

// size is what an arrival takes of its sender's window.
func (a *arrival) size() uint64 {
	if a.bulk {
		return uint64(len(a.data))
	}
	return cost(len(a.data))
}

func (r *receiver) init(c *Conduit) {
	r.batch = make([]mmsg.Datagram, recvDatagrams)
	buf := make([]byte, recvDatagrams*recvBytes)
	for i := range r.batch {
		r.batch[i].Buf = buf[i*recvBytes : (i+1)*recvBytes : (i+1)*recvBytes]
	}
	r.arrivals = make([]arrival, 0, 1024)
}

func (r *receiver) waiting() bool { return r.next < len(r.arrivals) }

// pass receives once and moves everything on, for a user or for the keeper. Under poll; it takes engine.
func (c *Conduit) pass(user bool) {
	c.stow()
	r := &c.recv
	n, _ := c.wire.Recv(r.batch) // an error is that of a closed socket, or of one datagram
	if n == 0 && user && c.nothingNew() {
		return
	}
	c.engine.Lock()
	c.now = c.clock()
	if user {
		c.polled = c.now
	}
	for i := range r.batch[:n] {
		c.open(&r.batch[i])
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
	c.release()
}

// idlePasses is how many passes that find nothing go by between looks at the clock.
const idlePasses = 8

// nothingNew tells whether a pass that has received nothing may end there. Under poll.
func (c *Conduit) nothingNew() bool {
	r := &c.recv
	r.idle++
	return r.idle%idlePasses != 0 && !r.later && !c.held.Load() && c.dirties.Load() == 0
}

// open takes in one datagram as the socket gave it, or several that the kernel joined.
func (c *Conduit) open(d *mmsg.Datagram) {
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
	c.heard(src, binary.BigEndian.Uint32(payload), binary.BigEndian.Uint32(payload[4:]))
	c.lanes[src].size.heard = true
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
	case tagRecord:
		c.record(peer, data)
	case tagBye:
		c.heardBye(peer, data)
	default:
		c.recv.malformed++
	}
}

func (c *Conduit) record(peer int, data []byte) {
	if len(data) < conduit.WordBytes || int(uint32(binary.LittleEndian.Uint64(data))) != len(data) || len(data) > c.g.maxRecord {
		c.corrupt(peer, "a record that contradicts its length, or is too long")
		return
	}
	c.arrived(peer, arrival{src: int32(peer), data: data})
}

// Put implements reliable.Sink. Under poll and engine.
func (c *Conduit) Put(peer int, tag uint8, place, offset uint64, piece []byte) {
	if tag != tagBulk || len(piece) == 0 {
		c.recv.malformed++
		return
	}
	c.arrived(peer, arrival{src: int32(peer), bulk: true, id: place, off: int64(offset), data: piece})
}

// arrived keeps what has come until it is delivered: where it is, or copied where it cannot stay.
func (c *Conduit) arrived(peer int, a arrival) {
	if c.fails.Lost(peer) {
		return // given up, and perhaps told of
	}
	ln := &c.lanes[peer]
	if !c.within(ln, &a) {
		c.corrupt(peer, "more than there is room for")
		return
	}
	ln.arrived += a.size()
	r := &c.recv
	switch {
	case c.closed():
		c.take(&a)
	case lies(a.data, r.now) && len(r.arrivals) < cap(r.arrivals):
		r.arrivals = append(r.arrivals, a)
	default:
		c.store(&a)
	}
	c.byeIfAll(peer)
}

// within tells whether the window of its sender lets an arrival in, and counts it if so. Only a sender that keeps to no rule is
// beyond; it shall not fill this rank's memory.
//
// Only what the sender counts, too, may be counted: records with the headers of their entries in a stage, and the plain bytes of bulk
// data. In an inbox an entry costs more, up to twice as much for a record, and 32 times for a piece of one byte. But one byte may be
// all that a message has, and a rank may send as many of those as the window has bytes before any is taken: no number of
// entries tells a bad sender from a good one.
func (c *Conduit) within(ln *lane, a *arrival) bool {
	kind, most := 0, c.g.window
	if a.bulk {
		kind, most = 1, uint64(c.g.slots)*uint64(c.g.chunk)
	}
	if ln.untaken[kind]+a.size() > most {
		return false
	}
	ln.untaken[kind] += a.size()
	return true
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

// take notes that a has been taken from where it waited.
func (c *Conduit) take(a *arrival) {
	ln := &c.lanes[a.src]
	if a.bulk {
		ln.untaken[1] -= a.size()
		ln.bulkTaken.Store(ln.bulkTaken.Load() + uint32(a.size()))
	} else {
		ln.untaken[0] -= a.size()
		ln.taken.Store(ln.taken.Load() + uint32(a.size()))
	}
	if !ln.owes {
		ln.owes = true
		c.owing = append(c.owing, a.src)
		if len(c.owing) == 1 {
			c.owedAt = 0
			c.debts.Store(true)
		}
	}
}

// patience is how long a peer may be left without news of what was taken, if no other datagram goes there.
const patience = 100 * time.Microsecond

// payDebts has those peers told what was taken of theirs that have not heard of it in time, or that may wait for it. Under poll
// and engine.
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
		ln := &c.lanes[p]
		debt, bulk := ln.taken.Load()-ln.told, ln.bulkTaken.Load()-ln.toldBulk
		switch {
		case debt == 0 && bulk == 0 || !ln.known:
		case due || uint64(debt) > c.g.window/4 || int(bulk) > c.g.chunk*c.g.slots/4 || c.g.tiny:
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
