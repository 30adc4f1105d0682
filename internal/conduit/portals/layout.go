package portals

import (
	"sync/atomic"
	"unsafe"
)

const (
	line = 64
	// apart is the distance of words with different writers: cores fetch lines in pairs.
	apart = 2 * line
	// smallUnit is the grain of the queues that credits do not count.
	smallUnit = line
	// smallBuffer is the length of one buffer for system records.
	smallBuffer = 64 << 10
	// maxUnits is the longest record in units.
	maxUnits = 1<<16 - 1
)

// shape is the form of one queue's memory.
type shape struct {
	unit    int    // bytes; records begin at multiples of it
	units   uint32 // of a buffer
	last    uint32 // the last unit of a buffer at which a record may begin, so that the longest fits
	buffers int
	order   int // slots of the list of buffers, a power of two above their number
}

// newShape sizes a queue so that room bytes of records are always free, however they fall and with up to spares buffers
// partly served. A buffer is used up to its last longest record at least, the rest is not counted on.
func newShape(unit, buffer, room, record, spares int) shape {
	longest := ceil(record, unit)
	units := max(buffer/unit, 2*longest)
	s := shape{unit: unit, units: uint32(units), last: uint32(units - longest)}
	// One record more than the room: its credits may be back before its place counts as served.
	s.buffers = ceil(ceil(room, unit)+longest, units-longest+1) + spares
	for s.order = 2; s.order <= s.buffers; s.order *= 2 {
		continue
	}
	return s
}

// Offsets in a queue's memory: control words, a word for each buffer, the list, a mark for each unit, the records.
const (
	curAt    = 0
	linkedAt = apart
	paddedAt = 2 * apart
	fillsAt  = 3 * apart
)

func (s *shape) orderAt() int { return fillsAt + s.buffers*apart }
func (s *shape) marksAt() int { return align(s.orderAt() + s.order*4) }
func (s *shape) dataAt() int  { return align(s.marksAt() + s.buffers*int(s.units)*8) }
func (s *shape) size() int    { return s.dataAt() + s.buffers*int(s.units)*s.unit }

func align(n int) int { return ceil(n, apart) * apart }

// Offsets in a rank's segment: the bell, then a counter for each peer, then the queues.
const (
	bellAt = 0
	doneAt = apart
)

// segment is the memory of one rank that its peers use. It holds offsets and counters only, so it could as well lie in
// memory shared between processes.
type segment struct {
	// bell is 1 while the owner sleeps or is about to.
	bell *atomic.Uint32
	// done has, by sender, the cost of what the owner has served. Written by the owner's poller, read by the sender when it
	// runs short.
	done   []atomic.Uint64
	queues [queues]queue
	bytes  int
}

func newSegment(g *geometry) *segment {
	at := align(doneAt + g.ranks*8)
	var starts [queues]int
	for i := range g.shapes {
		starts[i] = at
		at = align(at + g.shapes[i].size())
	}
	mem := heapMemory(at)
	s := &segment{
		bell:  (*atomic.Uint32)(unsafe.Pointer(&mem[bellAt])),
		done:  unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&mem[doneAt])), g.ranks),
		bytes: at,
	}
	for i := range s.queues {
		s.queues[i] = newQueue(g.shapes[i], mem[starts[i]:starts[i]+g.shapes[i].size()])
	}
	return s
}

// heapMemory returns zeroed, aligned memory. The system gives its pages when they are first used.
func heapMemory(n int) []byte {
	m := make([]byte, n+apart)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(m))) & (apart - 1))
	return m[skip : skip+n : skip+n]
}
