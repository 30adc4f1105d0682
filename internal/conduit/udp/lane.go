package udp

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/conduit/tickets"
	"github.com/golci/golci/internal/conduit/udp/seal"
)

// lane is the way to one peer, and what came from it.
type lane struct {
	stage stage
	bulk  bulkStage

	// held is the cost of all records committed to the peer; written by the writer. Without limits it stays zero, as served does.
	held atomic.Uint64
	// served is the cost of the peer's records that this rank has served, bulkTaken how many bytes of its bulk data; every datagram
	// to the peer tells of them. Written under poll.
	served    atomic.Uint64
	bulkTaken atomic.Uint32
	// bulkFreed is how many bytes of bulk data the peer has taken.
	bulkFreed atomic.Uint64
	// dirty tells that the peer is in Conduit.dirty.
	dirty atomic.Bool

	// Under engine.
	known     bool   // to the reliable core
	blocked   bool   // something is staged and must wait for the peer
	told      uint64 // the last served that left
	toldBulk  uint32
	repaid    uint64 // of held, what the peer has served
	sender    *seal.Sender
	mtu       int // of a datagram
	route     router
	size      sizer
	flushed   uint64 // Conduit.polls when a record was last staged
	followed  bool   // another record was staged since then, and kept back
	company   uint8  // rounds in a row in which that was so
	slow      uint32 // Conduit.slow when the round began
	saidBye   bool   // to the peer; written under poll, too
	datagrams uint64 // sent, for the turns of paths

	// Under poll.
	untaken [2]uint64 // bytes that have come and were not taken: of records with their entries, of bulk
	owes    bool      // in Conduit.owing
	arrived uint64    // of records, in bytes of entries, and of bulk
	byeAt   uint64    // what that will be in the end; with bye
	bye     bool
}

// entryHeader precedes each record in a stage.
const entryHeader = 8

// pad marks the unused end of a stage.
const pad = 1 << 31

// stage is the records that were committed and not yet handed to the reliable core: a ring of bytes with one writer, the
// caller of Reserve and Commit, and one reader, the holder of engine. Positions never wrap.
type stage struct {
	buf []byte
	// head is where the next record goes: written by the writer, after the record. tail is the reader's.
	head, tail atomic.Uint64
	// shift is what positions are away from their places in buf. The writer changes it while the stage is empty, before it moves head;
	// the reader looks at it after it has found head moved.
	shift uint64
	// at, n: what is reserved, of the writer; n is 0 if nothing is.
	at uint64
	n  uint32
	// class and price are of the reservation.
	class conduit.Class
	price tickets.Cost
	// all is the bytes of all entries committed.
	all atomic.Uint64
}

// cost is what a record of n bytes takes.
func cost(n int) uint64 { return uint64((n+7)&^7 + entryHeader) }

// reserve finds room for n bytes within limit, of which used are taken.
func (s *stage) reserve(n int, used, limit uint64) ([]byte, bool) {
	need := cost(n)
	if used+need > limit {
		return nil, false
	}
	size := uint64(len(s.buf))
	at := s.head.Load()
	if s.tail.Load() == at { // it begins anew, in memory that is in the cache
		s.shift = -at
	}
	if end := size - s.place(at); end < need {
		if at+end+need-s.tail.Load() > size {
			return nil, false
		}
		at += end
	} else if at+need-s.tail.Load() > size {
		return nil, false
	}
	s.at, s.n = at, uint32(need)
	i := s.place(at)
	return s.buf[i+entryHeader : i+need : i+need], true
}

// place is where in buf a position is.
func (s *stage) place(at uint64) uint64 { return (at + s.shift) & (uint64(len(s.buf)) - 1) }

// commit publishes what was reserved, cut to n bytes.
func (s *stage) commit(n int) {
	if from := s.head.Load(); from != s.at {
		binary.LittleEndian.PutUint64(s.buf[s.place(from):], pad)
	}
	binary.LittleEndian.PutUint64(s.buf[s.place(s.at):], uint64(n)|uint64(s.class)<<32)
	need := cost(n)
	s.n = 0
	s.all.Store(s.all.Load() + need)
	s.head.Store(s.at + need)
}

// next is the oldest record, nil if there is none.
func (s *stage) next() (rec []byte, class conduit.Class) {
	for {
		t := s.tail.Load()
		if t == s.head.Load() {
			return nil, 0
		}
		i := s.place(t)
		h := binary.LittleEndian.Uint64(s.buf[i:])
		if h == pad {
			s.tail.Store(t + uint64(len(s.buf)) - i)
			continue
		}
		n := uint64(uint32(h))
		return s.buf[i+entryHeader : i+entryHeader+n], conduit.Class(h >> 32)
	}
}

// pop takes the record out that next gave.
func (s *stage) pop(n int) { s.tail.Store(s.tail.Load() + cost(n)) }

func (s *stage) empty() bool { return s.tail.Load() == s.head.Load() }

// Reserve implements conduit.Conduit.
func (c *Conduit) Reserve(peer int, class conduit.Class, n int) ([]byte, conduit.Status) {
	if c.unreachable(peer) || uint(n)-conduit.WordBytes > uint(c.g.maxRecord-conduit.WordBytes) || class > conduit.System {
		return nil, conduit.Dead
	}
	s := &c.lanes[peer].stage
	if s.buf == nil {
		s.buf = make([]byte, c.g.stage)
	}
	limit := c.g.limit
	if class == conduit.Request {
		limit = c.g.requests
	}
	c.giveBack(s)
	if c.purse != nil {
		if price := tickets.Of(class, n); c.purse.Take(class, price) {
			s.price = price
		} else {
			return nil, conduit.Retry
		}
	}
	b, ok := s.reserve(n, s.head.Load()-s.tail.Load(), limit)
	if !ok {
		c.giveBack(s)
		return nil, conduit.Retry
	}
	s.class = class
	return b[:(n+7)&^7], conduit.OK
}

// giveBack gives up a reservation.
func (c *Conduit) giveBack(s *stage) {
	if s.n = 0; s.price != 0 {
		c.purse.Give(s.price)
		s.price = 0
	}
}

// Commit implements conduit.Conduit.
func (c *Conduit) Commit(peer int, first uint64) {
	if uint(peer) >= uint(len(c.lanes)) {
		return
	}
	ln := &c.lanes[peer]
	s := &ln.stage
	n := int(uint32(first))
	if s.n == 0 || n < conduit.WordBytes || cost(n) > uint64(s.n) {
		return
	}
	i := s.place(s.at) + entryHeader
	binary.LittleEndian.PutUint64(s.buf[i:], first)
	if s.price != 0 {
		// What the peer will say it has served is the cost of the record as it came, which may be shorter.
		now := tickets.Of(s.class, n)
		c.purse.Give(s.price - now)
		ln.held.Store(ln.held.Load() + uint64(now))
		s.price = 0
	}
	s.commit(n)
	if peer == c.cfg.Rank {
		c.selfMail()
		return
	}
	c.push(peer)
}
