package udp

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/conduit/udp/seal"
)

// lane is the way to one peer, and what came from it.
type lane struct {
	stage stage
	bulk  bulkStage

	// freed is how much of what was sent to the peer it has taken from its inbox, in bytes of entries; written under engine.
	freed atomic.Uint64
	// bulkFreed is the same of bulk bytes.
	bulkFreed atomic.Uint64
	// taken and bulkTaken are what this rank has taken from the inbox of the peer's records and bulk bytes; every datagram to
	// the peer tells of them. Written under poll.
	taken, bulkTaken atomic.Uint32
	// dirty tells that the peer is in Conduit.dirty.
	dirty atomic.Bool

	// Under engine.
	known     bool   // to the reliable core
	blocked   bool   // something is staged and must wait for the peer
	told      uint32 // the last taken that left
	toldBulk  uint32
	sent      uint64 // handed to the reliable core, in bytes of entries
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
	in      [2]inbox  // of records, of bulk
	untaken [2]uint64 // what has come and was not taken: records in bytes of entries, bulk
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
	// urgent: the reservation is not a request.
	urgent bool
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
	h := uint64(n)
	if s.urgent {
		h |= 1 << 32
	}
	binary.LittleEndian.PutUint64(s.buf[s.place(s.at):], h)
	need := cost(n)
	s.n = 0
	s.all.Store(s.all.Load() + need)
	s.head.Store(s.at + need)
}

// next is the oldest record, nil if there is none.
func (s *stage) next() (rec []byte, urgent bool) {
	for {
		t := s.tail.Load()
		if t == s.head.Load() {
			return nil, false
		}
		i := s.place(t)
		h := binary.LittleEndian.Uint64(s.buf[i:])
		if h == pad {
			s.tail.Store(t + uint64(len(s.buf)) - i)
			continue
		}
		n := uint64(uint32(h))
		return s.buf[i+entryHeader : i+entryHeader+n], h>>32 != 0
	}
}

// pop takes the record out that next gave.
func (s *stage) pop(n int) { s.tail.Store(s.tail.Load() + cost(n)) }

func (s *stage) empty() bool { return s.tail.Load() == s.head.Load() }

// Reserve implements conduit.Conduit.
func (c *Conduit) Reserve(peer int, class conduit.Class, n int) ([]byte, conduit.Status) {
	if c.unreachable(peer) || uint(n)-conduit.WordBytes > uint(c.g.maxRecord-conduit.WordBytes) {
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
	used := c.used(peer)
	if class == conduit.Request && c.g.tiny && used == 0 {
		limit = c.g.limit // one large record
	}
	b, ok := s.reserve(n, used, limit)
	if !ok {
		return nil, conduit.Retry
	}
	s.urgent = class == conduit.System
	return b[:(n+7)&^7], conduit.OK
}

// used is how many bytes of a lane's stage count as taken; with tiny queues also what the peer has not looked at.
func (c *Conduit) used(peer int) uint64 {
	ln := &c.lanes[peer]
	if c.g.tiny {
		return ln.stage.all.Load() - ln.freed.Load()
	}
	return ln.stage.head.Load() - ln.stage.tail.Load()
}

// Commit implements conduit.Conduit.
func (c *Conduit) Commit(peer int, first uint64) {
	if uint(peer) >= uint(len(c.lanes)) {
		return
	}
	s := &c.lanes[peer].stage
	n := int(uint32(first))
	if s.n == 0 || n < conduit.WordBytes || cost(n) > uint64(s.n) {
		return
	}
	i := s.place(s.at) + entryHeader
	binary.LittleEndian.PutUint64(s.buf[i:], first)
	s.commit(n)
	if peer == c.cfg.Rank {
		c.selfMail()
		return
	}
	c.push(peer)
}
