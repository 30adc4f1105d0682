package portals

import (
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/arch"
	"github.com/golci/golci/internal/invariants"
)

// queue is what senders see of a receive queue: buffers that take their turns. Turn t is the t-th time that a buffer was put
// on the list, from 1; order says which buffer it is.
//
// A place is reserved by adding its units to the buffer's fill word, and is good if it begins at or before unit last. The
// one good reservation that ends behind last is the end of the buffer. So the receiver learns from the records themselves how far a
// buffer goes, and a sender that is descheduled anywhere leaves at most its own place open: moving to the next turn can be
// done by anyone who finds the buffer full.
type queue struct {
	shape
	cur    *atomic.Uint64 // the turn to reserve in; moved on by senders
	linked *atomic.Uint64 // the last turn on the list; written by the receiver
	padded *atomic.Int64  // units reserved for nothing and not yet passed by the receiver
	fills  []fillWord
	// order has the buffer of a turn, by turn modulo its length. Written by the receiver before linked.
	order []atomic.Uint32
	// marks has the word that publishes the record beginning at a unit. A mark of another turn is void, so none is ever cleared.
	// Written by the sender, with release order, after the record.
	marks []atomic.Uint64
	data  []byte
}

// fillWord is the turn's tag and the units reserved, which may go beyond the end.
type fillWord struct {
	atomic.Uint64
	_ [apart - 8]byte
}

// A mark is: tag 24 bits, pad 1 bit, source 23 bits, units 16 bits.
const (
	tagShift  = 40
	tagMask   = 1<<24 - 1
	fillMask  = 1<<tagShift - 1
	padBit    = 1 << 39
	srcShift  = 16
	srcMask   = 1<<23 - 1
	unitsMask = 1<<16 - 1
)

func newQueue(s shape, mem []byte) queue {
	word := func(at int) unsafe.Pointer { return unsafe.Pointer(&mem[at]) }
	q := queue{
		shape: s, cur: (*atomic.Uint64)(word(curAt)), linked: (*atomic.Uint64)(word(linkedAt)),
		padded: (*atomic.Int64)(word(paddedAt)),
		fills:  unsafe.Slice((*fillWord)(word(fillsAt)), s.buffers),
		order:  unsafe.Slice((*atomic.Uint32)(word(s.orderAt())), s.order),
		marks:  unsafe.Slice((*atomic.Uint64)(word(s.marksAt())), s.buffers*int(s.units)),
		data:   mem[s.dataAt():],
	}
	q.cur.Store(1)
	for b := range s.buffers {
		q.link(uint32(b))
	}
	return q
}

// link puts an empty buffer at the end of the list. Called by the receiver only.
func (q *queue) link(b uint32) {
	turn := q.linked.Load() + 1
	// The word comes to life here: a sender that still holds an old turn may add to it from now on, and finds the tag changed.
	q.fills[b].Store(turn & tagMask << tagShift)
	q.order[turn&uint64(q.shape.order-1)].Store(b)
	q.linked.Store(turn)
}

func (q *queue) bufferOf(turn uint64) uint32 {
	return q.order[turn&uint64(q.shape.order-1)].Load()
}

// place is a reservation: its first unit, counted over all buffers, and the tag of its turn.
type place struct{ at, tag uint32 }

// hookReserved, set by tests, runs between a reservation and the move to the next buffer.
var hookReserved func()

// reserve takes k units. Dead means that all buffers are full; Retry that the receiver is just putting one back.
func (q *queue) reserve(k uint32) (place, conduit.Status) {
	for {
		turn := q.cur.Load()
		b := q.bufferOf(turn)
		w := q.fills[b].Add(uint64(k))
		begin, tag := w&fillMask-uint64(k), uint32(w>>tagShift)
		if invariants.Enabled && hookReserved != nil {
			hookReserved()
		}
		p := place{at: b*q.units + uint32(begin), tag: tag}
		good := begin <= uint64(q.last)
		switch {
		case uint64(tag) != turn&tagMask:
			// The buffer has gone round since cur was loaded, or since it was last moved on. The receiver may not look at this turn of
			// it for long.
			if good {
				q.pad(p, k)
			}
			if !q.advance(turn) {
				return place{}, conduit.Retry
			}
		case good:
			if begin+uint64(k) > uint64(q.last) {
				q.advance(turn)
			}
			return p, conduit.OK
		case !q.advance(turn):
			return place{}, conduit.Dead
		}
	}
}

// advance moves from a full turn to the next. False if there is no next and nobody else has found one.
func (q *queue) advance(turn uint64) bool {
	if turn >= q.linked.Load() {
		return q.cur.Load() != turn
	}
	q.cur.CompareAndSwap(turn, turn+1)
	return true
}

// space is the memory of a place, n bytes.
func (q *queue) space(p place, n int) []byte {
	at := int(p.at) * q.unit
	return q.data[at : at+n : at+n]
}

// first is the first word of the record that begins at a unit.
func (q *queue) first(at uint32) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&q.data[int(at)*q.unit]))
}

// publish makes the record at a place visible to the receiver.
func (q *queue) publish(p place, src int, k uint32) {
	arch.StoreRel64(&q.marks[p.at], uint64(p.tag)<<tagShift|uint64(src)<<srcShift|uint64(k))
}

// cancel gives a place back if nobody has reserved behind it, and otherwise marks it as nothing. The place that ends a buffer
// is not given back, because others may have moved on already.
func (q *queue) cancel(p place, k uint32) {
	b := p.at / q.units
	begin := p.at - b*q.units
	w := uint64(p.tag)<<tagShift | uint64(begin)
	if begin+k > q.last || !q.fills[b].CompareAndSwap(w+uint64(k), w) {
		q.pad(p, k)
	}
}

func (q *queue) pad(p place, k uint32) {
	q.padded.Add(int64(k))
	q.marks[p.at].Store(uint64(p.tag)<<tagShift | padBit | uint64(k))
}
