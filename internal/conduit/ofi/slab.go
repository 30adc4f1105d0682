//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/internal/ofi/fi"
)

// A slot is memory outside of the Go heap that the library may keep: its context, the slot's number, and a message.
const (
	numberAt  = fi.ContextBytes
	messageAt = numberAt + 16
	recordAt  = messageAt + header
	leastSlot = 7 // its length, as a power of two
	arenaSize = 256 << 10
)

// use tells what a slot is for.
type use uint8

const (
	unused  use = iota
	sending     // a message
	writing     // a chunk, into the window of a peer
	getting
	putting
	receiving // messages, into a buffer
)

// slot is one operation, or a record that waits. Under Conduit.mu; the memory of a reserved or delivered record belongs
// to whoever has it.
type slot struct {
	mem    []byte
	desc   uintptr
	number int
	class  uint8
	next   *slot // of a queue, or of those not in use

	use  use
	peer int32
	kind kind   // of a message
	n    int    // bytes of it, with the header; of other operations, bytes to move
	at   uint64 // in the library since then: a count of passes; 0 is not in it

	chunk chunk
	local uintptr // where the bytes are, unless in the slot
	ldesc uintptr
	rkey  uint64
	raddr uint64
	index int // in Conduit.flying
}

func (s *slot) base() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s.mem))) }

// message is the n bytes of it, header included.
func (s *slot) message() []byte { return s.mem[messageAt : messageAt+s.n] }

// slab is the memory of slots. It grows to what is needed at once, and does not shrink. Under Conduit.mu.
type slab struct {
	all    []*slot
	free   [32]*slot // by the logarithm of their length
	arenas []arena
	// register makes an arena known to the library, if that must be.
	register func(mem []byte) (fi.Region, error)
}

type arena struct {
	mem    []byte
	region fi.Region
}

// take gives a slot for a message of n bytes, nil if the system has no memory for one.
func (b *slab) take(n int) *slot {
	k := max(bits.Len(uint(messageAt+n-1)), leastSlot)
	if b.free[k] == nil && !b.grow(k) {
		return nil
	}
	s := b.free[k]
	b.free[k], s.next = s.next, nil
	return s
}

// give takes a slot back.
func (b *slab) give(s *slot) {
	*s = slot{mem: s.mem, desc: s.desc, number: s.number, class: s.class, next: b.free[s.class]}
	b.free[s.class] = s
}

// fits tells whether a message of n bytes has room in the slot.
func (s *slot) fits(n int) bool { return messageAt+n <= len(s.mem) }

func (b *slab) grow(k int) bool {
	mem, err := mapped(max(arenaSize, 1<<k))
	if err != nil {
		return false
	}
	r, err := b.register(mem)
	if err != nil {
		_ = unix.Munmap(mem) // nobody has it yet
		return false
	}
	b.arenas = append(b.arenas, arena{mem, r})
	for at := 0; at+1<<k <= len(mem); at += 1 << k {
		s := &slot{mem: mem[at : at+1<<k : at+1<<k], desc: r.Desc, number: len(b.all), class: uint8(k), next: b.free[k]}
		binary.LittleEndian.PutUint64(s.mem[numberAt:], uint64(s.number))
		b.all = append(b.all, s)
		b.free[k] = s
	}
	return true
}

// of finds the slot of a context that the library has given back; nil if it is none.
func (b *slab) of(context uintptr) *slot {
	for _, a := range b.arenas {
		at := context - uintptr(unsafe.Pointer(unsafe.SliceData(a.mem)))
		if at < uintptr(len(a.mem)) && at+messageAt <= uintptr(len(a.mem)) {
			n := binary.LittleEndian.Uint64(a.mem[at+numberAt:])
			if n < uint64(len(b.all)) && b.all[n].base() == context {
				return b.all[n]
			}
		}
	}
	return nil
}

// mapped is n bytes of zeros outside of the Go heap.
func mapped(n int) ([]byte, error) {
	return unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}

// queue is slots in the order in which they came.
type queue struct{ first, last *slot }

func (q *queue) push(s *slot) {
	s.next = nil
	if q.last == nil {
		q.first = s
	} else {
		q.last.next = s
	}
	q.last = s
}

func (q *queue) pop() *slot {
	s := q.first
	if s != nil {
		if q.first = s.next; q.first == nil {
			q.last = nil
		}
		s.next = nil
	}
	return s
}

// record is the record in a slot, as long as its first word tells.
func (s *slot) record() []byte {
	n := binary.LittleEndian.Uint32(s.mem[recordAt:])
	return s.mem[recordAt : recordAt+n : recordAt+n]
}

// space is n bytes for a record, rounded up.
func (s *slot) space(n int) []byte {
	n = recordAt + (n+7)&^7
	return s.mem[recordAt:n:n]
}
