package udp

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/transport/tickets"
)

// entryHeader precedes each record in a stage.
const entryHeader = 8

// pad marks the unused end of a ring.
const pad = 1 << 31

// leastRing is the length of the first ring of a stage in bytes, unless one record needs more.
const leastRing = 4096

// stage holds the records that were committed and not yet handed to the reliable core. Its one writer is the caller of
// Reserve and Commit. Its one reader is the holder of engine; of the rank's own peer, the holder of poll. They lie in a
// ring. When that is full the writer goes on in one twice as long, and the reader follows when it has emptied the old
// one: neither waits for the other.
type stage struct {
	start atomic.Pointer[ring] // the first, of which the reader takes over; set by the writer
	read  *ring                // of the reader; nil before the first record
	// Of the writer: the ring, and what is reserved in it; n is 0 if nothing is. class and price are of the
	// reservation.
	write *ring
	at    uint64
	n     uint32
	class conduit.Class
	price tickets.Cost
	// all is the bytes of all entries committed, written by the writer, out of those that the reader has popped.
	all, out atomic.Uint64
}

// ring is a ring of bytes. Positions never wrap.
type ring struct {
	buf []byte
	// head is where the next record goes: written by the writer, after the record. tail is the reader's.
	head, tail atomic.Uint64
	// shift is what positions are away from their places in buf. The writer changes it while the ring is empty,
	// before it moves head; the reader looks at it after it has found head moved.
	shift uint64
	// next is where the writer has gone on. Nothing is written here after it is set.
	next atomic.Pointer[ring]
}

// cost is what a record of n bytes takes.
func cost(n int) uint64 { return uint64((n+7)&^7 + entryHeader) }

// reserveRecord reserves room for n bytes, and returns it. It returns false if more than limit bytes would then be
// staged. If the ring that is written has no room, it adds another ring, of at most most bytes.
func (s *stage) reserveRecord(n int, limit, most uint64) ([]byte, bool) {
	need := cost(n)
	if s.all.Load()-s.out.Load()+need > limit {
		return nil, false
	}
	for s.write == nil || !s.reserveIn(s.write, need) {
		if !s.growRing(need, most) {
			return nil, false
		}
	}
	i := s.write.placeAt(s.at)
	return s.write.buf[i+entryHeader : i+need : i+need], true
}

func (s *stage) reserveIn(r *ring, need uint64) bool {
	size := uint64(len(r.buf))
	at := r.head.Load()
	if r.tail.Load() == at { // it begins anew, in memory that is in the cache
		r.shift = -at
	}
	if end := size - r.placeAt(at); end < need {
		if at+end+need-r.tail.Load() > size {
			return false
		}
		at += end
	} else if at+need-r.tail.Load() > size {
		return false
	}
	s.at, s.n = at, uint32(need)
	return true
}

// growRing goes on in a longer ring, unless this one is as long as may be.
func (s *stage) growRing(need, most uint64) bool {
	size := uint64(leastRing)
	if s.write != nil {
		size = 2 * uint64(len(s.write.buf))
	}
	for size < 2*need && size < most {
		size *= 2
	}
	if size > most && s.write != nil {
		return false
	}
	r := &ring{buf: make([]byte, min(size, most))}
	if s.write == nil {
		s.start.Store(r)
	} else {
		s.write.next.Store(r)
	}
	s.write = r
	return true
}

// placeAt is where in buf a position is.
func (r *ring) placeAt(at uint64) uint64 { return (at + r.shift) & (uint64(len(r.buf)) - 1) }

// commit publishes what was reserved, cut to n bytes.
func (s *stage) commit(n int) {
	r := s.write
	if from := r.head.Load(); from != s.at {
		binary.LittleEndian.PutUint64(r.buf[r.placeAt(from):], pad)
	}
	binary.LittleEndian.PutUint64(r.buf[r.placeAt(s.at):], uint64(n)|uint64(s.class)<<32)
	need := cost(n)
	s.n = 0
	arch.StoreRel64(&s.all, s.all.Load()+need)
	r.head.Store(s.at + need)
}

// nextRecord returns the oldest staged record and its class, and leaves it staged. It returns nil if there is none.
func (s *stage) nextRecord() (rec []byte, class conduit.Class) {
	if s.read == nil {
		if s.read = s.start.Load(); s.read == nil {
			return nil, 0
		}
	}
	for {
		r := s.read
		t := r.tail.Load()
		if t == r.head.Load() {
			after := r.next.Load()
			if after == nil {
				return nil, 0
			}
			if t == r.head.Load() { // still, now that nothing more comes here
				s.read = after
			}
			continue
		}
		i := r.placeAt(t)
		h := binary.LittleEndian.Uint64(r.buf[i:])
		if h == pad {
			r.tail.Store(t + uint64(len(r.buf)) - i)
			continue
		}
		n := uint64(uint32(h))
		return r.buf[i+entryHeader : i+entryHeader+n], conduit.Class(h >> 32)
	}
}

// popRecord takes the record out that next gave.
func (s *stage) popRecord(n int) {
	s.read.tail.Store(s.read.tail.Load() + cost(n))
	arch.StoreRel64(&s.out, s.out.Load()+cost(n))
}

func (s *stage) isEmpty() bool { return s.out.Load() == s.all.Load() }
