// Package receivepool is the receive space of a rank: one pool of buffers that all its peers share, so that memory
// grows with the credits lent and not with the number of ranks. It follows the receive buffers of the GASNet Portals
// conduit. docs/design/udp.md tells how the udp conduit uses it.
//
// Entries wait in four queues, each a list of buffers that is filled at one end and emptied at the other. A buffer
// that is empty goes back to the stock. Buffers are made when they are first needed.
//
// A Pool does no IO, takes no lock and starts nothing. Its owner is whoever polls.
package receivepool

import "encoding/binary"

// Queue says what waits in a queue. Queues are served in this order.
type Queue uint8

const (
	// SYS has system records.
	SYS Queue = iota
	// SAFE has replies: to serve one takes nothing that may be short.
	SAFE
	// AM has requests, which may be answered.
	AM
	// Bulk has pieces of bulk data.
	Bulk
	// Queues is how many there are.
	Queues
)

// CreditBytes is what one credit takes of the queue AM: 256 bytes of record, and its event.
const CreditBytes = 256 + eventBytes

const (
	// eventBytes is what an entry takes beside its data, which are rounded up to a multiple of 8 bytes.
	eventBytes = 8
	bulkEvent  = 24

	leastBuffer   = 64 << 10
	mostBuffer    = 1 << 20
	entriesBuffer = 8 // of the longest, in a buffer
)

// Shape is how the space for requests is divided.
type Shape struct {
	// Buffer is the length of a buffer in bytes, Buffers how many hold the credits asked for, with the spare one.
	Buffer, Buffers int
	// Credits is for how many these have room, as a buffer is only used as a whole: at least as many as were asked for.
	Credits int
}

// ShapeFor divides the space for that many credits of requests whose records are up to maxRecord bytes long.
//
// An entry does not go over the end of a buffer, so of each the last longest entry is not counted on. The oldest
// buffer comes back only when all in it has been served. The credits of what has been served are spent anew
// meanwhile, so one buffer is not counted on either.
func ShapeFor(credits, maxRecord int) Shape {
	longest := maxRecord + eventBytes + 7
	s := Shape{Buffer: max(leastBuffer, 2*longest, min(entriesBuffer*longest, mostBuffer)) &^ 7}
	usable := s.Buffer - longest
	s.Buffers = max(1, (credits*CreditBytes+usable-1)/usable) + 1
	s.Credits = (s.Buffers - 1) * usable / CreditBytes
	return s
}

// Bytes is the most memory that requests take.
func (s *Shape) Bytes() int { return s.Buffer * s.Buffers }

// Entry is a record or a piece of bulk data that waits.
type Entry struct {
	Src int32
	// ID and Off tell what a piece of bulk data is of; records have neither.
	ID   uint64
	Off  int64
	Data []byte
}

// Pool is the receive space of one rank.
type Pool struct {
	buffer int
	made   int     // buffers
	stock  *buffer // empty ones
	queues [Queues]queue
	room   Rooms
	used   Rooms
}

// Rooms are bytes of the entries of each queue of records; no bound where it is zero.
type Rooms [Bulk]int

// queue is one list of buffers.
type queue struct {
	oldest, newest *buffer
	n              int // entries
}

// buffer has entries from head up to tail.
type buffer struct {
	next       *buffer
	head, tail int
	data       []byte
}

// New makes the pool of a rank, with room for the credits of the shape, and for so many bytes of replies and of
// system records. No credits means no bound, for tests that lend nothing.
func New(s Shape, replies, system int) *Pool {
	return &Pool{buffer: s.Buffer, room: Rooms{SYS: system, SAFE: replies, AM: s.Credits * CreditBytes}}
}

// Size is what a record of n bytes takes of the room of its queue.
func Size(n int) int { return eventBytes + (n+7)&^7 }

// Admit counts a record of n bytes that has come. It refuses one for which there is no room, though credits pay for
// each request and each reply was asked for: its sender has spent credits that it did not have, or there are none.
func (p *Pool) Admit(q Queue, n int) bool {
	if p.used[q]+Size(n) > p.room[q] && p.room[q] > 0 {
		return false
	}
	p.used[q] += Size(n)
	return true
}

// Release gives the room of a record back, once it has been served.
func (p *Pool) Release(q Queue, n int) { p.used[q] -= Size(n) }

// Len is how many entries wait in a queue.
func (p *Pool) Len(q Queue) int { return p.queues[q].n }

// Room is the bytes of records that each queue takes at once, used how many there are.
func (p *Pool) Room() (room, used Rooms) { return p.room, p.used }

// Memory is the bytes of all buffers that were ever needed at once.
func (p *Pool) Memory() int { return p.made * p.buffer }

// Push copies an entry to the end of a queue. A record must fit a buffer; bulk data are divided where they do not.
func (p *Pool) Push(q Queue, e *Entry) {
	if q != Bulk {
		copy(p.placeEntry(q, eventBytes, len(e.Data), len(e.Data), e.Src), e.Data)
		return
	}
	for off := 0; off < len(e.Data); {
		b := p.placeEntry(q, bulkEvent, 8, len(e.Data)-off, e.Src)
		binary.LittleEndian.PutUint64(b, e.ID)
		binary.LittleEndian.PutUint64(b[8:], uint64(e.Off)+uint64(off))
		off += copy(b[bulkEvent-eventBytes:], e.Data[off:])
	}
}

// placeEntry makes room for an entry of least to most bytes, behind a head of event bytes, and returns it from behind
// the first word.
func (p *Pool) placeEntry(q Queue, event, least, most int, src int32) []byte {
	l := &p.queues[q]
	b := l.newest
	if b == nil || len(b.data)-b.tail < event+(least+7)&^7 {
		b = p.takeBuffer()
		if l.newest == nil {
			l.oldest = b
		} else {
			l.newest.next = b
		}
		l.newest = b
	}
	n := min(most, len(b.data)-b.tail-event)
	at := b.data[b.tail:]
	binary.LittleEndian.PutUint32(at, uint32(n))
	binary.LittleEndian.PutUint32(at[4:], uint32(src))
	b.tail += event + (n+7)&^7
	l.n++
	return at[eventBytes : event+n]
}

// Pop takes the oldest entry out of a queue; false if there is none. Its data stay until the next Push.
func (p *Pool) Pop(q Queue, e *Entry) bool {
	l := &p.queues[q]
	b := l.oldest
	if b == nil {
		return false
	}
	at := b.data[b.head:]
	n := int(binary.LittleEndian.Uint32(at))
	e.Src = int32(binary.LittleEndian.Uint32(at[4:]))
	event := eventBytes
	if q == Bulk {
		event = bulkEvent
		e.ID, e.Off = binary.LittleEndian.Uint64(at[8:]), int64(binary.LittleEndian.Uint64(at[16:]))
	}
	e.Data = at[event : event+n : event+n]
	b.head += event + (n+7)&^7
	if l.n--; b.head == b.tail {
		p.retire(l, b)
	}
	return true
}

// retire puts the oldest buffer of a list, which is empty, back into the stock.
func (p *Pool) retire(l *queue, b *buffer) {
	if l.oldest = b.next; l.oldest == nil {
		l.newest = nil
	}
	b.head, b.tail = 0, 0
	b.next, p.stock = p.stock, b
}

func (p *Pool) takeBuffer() *buffer {
	b := p.stock
	if b == nil {
		p.made++
		return &buffer{data: make([]byte, p.buffer)}
	}
	p.stock, b.next = b.next, nil
	return b
}
