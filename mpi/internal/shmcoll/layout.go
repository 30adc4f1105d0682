package shmcoll

import (
	"sync/atomic"
	"unsafe"
)

// Sizes of a shared segment.
const (
	MaxRanks   = 64 // a bit for each in Segment.Sleepers; at most 255, for Segment.Arrive
	Calls      = 16 // calls in a row whose short contributions have places of their own
	Short      = 4 << 10
	Inline     = line - 3*8 // bytes of a contribution that lie in its head
	Chunks     = 16         // places in the ring of long contributions
	ChunkBytes = 32 << 10

	line       = 64
	header     = 3 * line // sleepers; arrived; released
	shortPlace = line + Short
	chunkPlace = line + ChunkBytes
)

// head begins each place. Its owner writes all but seq first, then seq with release order.
type head struct {
	seq    atomic.Uint64 // Seq of the contribution
	about  uint64
	seal   uint64
	inline [Inline]byte
}

const _ = uint(line-unsafe.Sizeof(head{})) + uint(unsafe.Sizeof(head{})-line) // it is a line

// Segment is one rank's view of the memory. Its fields do not change.
type Segment struct {
	mem     []byte
	base    unsafe.Pointer // of mem
	size    int
	self    int
	results uintptr // where in mem the results are, behind all parts
	part    uintptr // bytes of a rank's part
	taken   uintptr // where in a part the words of Taken are
	short   uintptr
	chunks  uintptr
	fenced  bool
}

// Size is how many bytes a shared segment of so many ranks needs.
func Size(ranks int) int64 {
	var b Segment
	b.lay(ranks)
	return int64(b.results + Calls*Short)
}

func (b *Segment) lay(ranks int) {
	b.size = ranks
	b.taken = line
	b.short = b.taken + (uintptr(ranks)*8+line-1)&^(line-1)
	b.chunks = b.short + Calls*shortPlace
	b.part = b.chunks + Chunks*chunkPlace
	b.results = header + b.part*uintptr(ranks)
}

// New is the view of rank self. mem has Size bytes, is aligned to a cache line, and was zero at first. fenced says that
// a rank which sets its bit of Sleepers has all others pass a memory barrier; otherwise each publication has one.
func New(mem []byte, ranks, self int, fenced bool) *Segment {
	b := &Segment{mem: mem, base: unsafe.Pointer(unsafe.SliceData(mem)), self: self, fenced: fenced}
	b.lay(ranks)
	return b
}

func (b *Segment) addressAt(rank int, off uintptr) unsafe.Pointer {
	return unsafe.Add(b.base, header+uintptr(rank)*b.part+off)
}

// Sleepers has a bit for each rank that may be asleep while it waits for such a word of the shared segment. Each rank
// sets and clears its own.
func (b *Segment) Sleepers(w Awaited) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Add(b.base, uintptr(w)*8))
}

// arrivedWord is the number of the last call in which a rank has arrived, and in its low byte how many have. Any rank
// changes it, by Arrive.
func (b *Segment) arrivedWord() *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Add(b.base, line)) }

// Released is the number of the last call in which all ranks have arrived. The last to arrive sets it.
func (b *Segment) Released() *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Add(b.base, 2*line)) }

// Done is the number of a call before which the rank has done with all places.
func (b *Segment) Done(rank int) *atomic.Uint64 { return (*atomic.Uint64)(b.addressAt(rank, 0)) }

// Taken is the Seq behind the last chunk of rank from that rank has done with.
func (b *Segment) Taken(rank, from int) *atomic.Uint64 {
	return (*atomic.Uint64)(b.addressAt(rank, b.taken+uintptr(from)*8))
}

// Result is the place for n bytes, at most Short, that the last rank to arrive in a call makes for all. Others read it
// when Released has got to the call.
func (b *Segment) Result(call uint64, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(b.base, b.results+uintptr(call%Calls)*Short)), n)
}

func (b *Segment) shortAt(rank int, call uint64) *head {
	return (*head)(b.addressAt(rank, b.short+uintptr(call%Calls)*shortPlace))
}

func (b *Segment) chunkAt(rank int, i uint64) *head {
	return (*head)(b.addressAt(rank, b.chunks+uintptr(i%Chunks)*chunkPlace))
}
