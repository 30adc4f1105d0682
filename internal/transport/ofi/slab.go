//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/fi"
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
	peer int
	kind kind // of a message
	n    int  // bytes of it, with the header

	op  *operation // getting and putting
	buf *buffer    // receiving
}

// operation is an access to the memory of a peer.
type operation struct {
	local  []byte // of the caller, alive until the library is done with it
	region *fi.Region
	rkey   uint64
	raddr  uint64
	done   conduit.Completion // nil once it has been told
	index  int                // in Conduit.flying
	since  time.Time          // of the failure of the peer
}

func (s *slot) base() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s.mem))) }

// messageBytes is the n bytes of it, header included.
func (s *slot) messageBytes() []byte { return s.mem[messageAt : messageAt+s.n : messageAt+s.n] }

// slab is the memory of slots. It grows to what is needed at once, and does not shrink. Under Conduit.mu.
type slab struct {
	all     []*slot
	free    [32]*slot // by the logarithm of their length
	arenas  *arenas
	regions []fi.Region
	// register makes an arena known to the library, if that must be.
	register func(mem []byte) (fi.Region, error)
}

// arenas is memory that is given back to the system when the conduit is garbage: callers may touch a reserved record
// after Close.
type arenas struct{ mem [][]byte }

func (a *arenas) unmapAll() {
	for _, m := range a.mem {
		_ = unix.Munmap(m) // nobody has it any more
	}
}

// mapZeros is n bytes of zeros outside of the Go heap.
func (a *arenas) mapZeros(n int) ([]byte, error) {
	m, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err == nil {
		a.mem = append(a.mem, m)
	}
	return m, err
}

// knownBytes is n mapped bytes that the library knows.
func (b *slab) knownBytes(n int) (mem []byte, desc uintptr, err error) {
	if mem, err = b.arenas.mapZeros(n); err != nil {
		return nil, 0, err
	}
	r, err := b.register(mem)
	if err != nil {
		return nil, 0, err
	}
	b.regions = append(b.regions, r)
	return mem, r.Desc, nil
}

// forgetMemory takes all memory back from the library.
func (b *slab) forgetMemory(ep *fi.Endpoint) error {
	var errs []error
	for _, r := range b.regions {
		errs = append(errs, ep.Forget(r))
	}
	b.regions = nil
	return errors.Join(errs...)
}

// takeSlot gives a slot for a message of n bytes, nil if the system has no memory for one.
func (b *slab) takeSlot(n int) *slot {
	k := max(bits.Len(uint(messageAt+n-1)), leastSlot)
	if b.free[k] == nil && !b.growSlab(k) {
		return nil
	}
	s := b.free[k]
	b.free[k], s.next = s.next, nil
	return s
}

// giveSlot takes a slot back.
func (b *slab) giveSlot(s *slot) {
	*s = slot{mem: s.mem, desc: s.desc, number: s.number, class: s.class, next: b.free[s.class]}
	b.free[s.class] = s
}

// fitsIn tells whether a message of n bytes has room in the slot.
func (s *slot) fitsIn(n int) bool { return messageAt+n <= len(s.mem) }

func (b *slab) growSlab(k int) bool {
	mem, desc, err := b.knownBytes(max(arenaSize, 1<<k))
	if err != nil {
		return false
	}
	for at := 0; at+1<<k <= len(mem); at += 1 << k {
		s := &slot{mem: mem[at : at+1<<k : at+1<<k], desc: desc, number: len(b.all), class: uint8(k), next: b.free[k]}
		binary.LittleEndian.PutUint64(s.mem[numberAt:], uint64(s.number))
		b.all = append(b.all, s)
		b.free[k] = s
	}
	return true
}

// slotOf finds the slot of a context that the library has given back; nil if it is none.
func (b *slab) slotOf(context uintptr) *slot {
	if context == 0 {
		return nil
	}
	at := context + numberAt // memory of C: not moved, and not collected
	n := **(**uint64)(unsafe.Pointer(&at))
	if n < uint64(len(b.all)) && b.all[n].base() == context {
		return b.all[n]
	}
	return nil
}

// queue is slots in the order in which they came.
type queue struct{ first, last *slot }

func (q *queue) pushSlot(s *slot) {
	s.next = nil
	if q.last == nil {
		q.first = s
	} else {
		q.last.next = s
	}
	q.last = s
}

func (q *queue) popSlot() *slot {
	s := q.first
	if s != nil {
		if q.first = s.next; q.first == nil {
			q.last = nil
		}
		s.next = nil
	}
	return s
}

// space is n bytes for a record, rounded up.
func (s *slot) space(n int) []byte {
	n = recordAt + (n+7)&^7
	return s.mem[recordAt:n:n]
}
