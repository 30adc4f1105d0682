package mpi

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/golci/golci/internal/schedule"
)

func (x *coll) root(root int) error {
	if uint(root) >= uint(x.size) {
		return x.errorf(ErrRoot, "%d", root)
	}
	return nil
}

// elems is a buffer of the program: len elements of size bytes.
type elems struct {
	mem       []byte
	len, size int
}

// take gives x the buffers of its call; a call with one buffer has it as out.
func take[T any](x *coll, in, out []T) *coll {
	hold(&x.buf[schedule.In], in)
	hold(&x.buf[schedule.Out], out)
	return x
}

func hold[T any](e *elems, buf []T) { e.mem, e.len, e.size = bytesOf(buf), len(buf), sizeOf[T]() }

// smallScratch is how many words of memory to work in a communicator has of its own.
const smallScratch = 64

// borrow gives the call n bytes of unknown content, until release. A call has one such piece at a time.
func (x *coll) borrow(n int) ([]byte, *scratch) {
	if n <= 8*smallScratch {
		return unsafe.Slice((*byte)(unsafe.Pointer(&x.small)), n), nil
	}
	b, s := borrow(n)
	x.scratch = s
	return b, s
}

// scratch is memory that collectives work in, aligned for any element.
type scratch struct {
	words []uint64
	lost  bool // messages may still come into it
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// borrow gives n bytes, with unknown content, and the scratch to give back.
func borrow(n int) ([]byte, *scratch) {
	s := scratches.Get().(*scratch)
	need := (n + 7) / 8
	if cap(s.words) < need {
		s.words = make([]uint64, 1<<bits.Len(uint(max(need, 8)-1)))
	}
	w := s.words[:cap(s.words)]
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), 8*len(w))[:n], s
}

func (s *scratch) release() {
	if s != nil && !s.lost {
		scratches.Put(s)
	}
}

// same reports whether two slices begin at the same place, so that one is the result in the other's place.
func same(a, b []byte) bool {
	return len(a) == 0 || unsafe.SliceData(a) == unsafe.SliceData(b)
}

// lengthFor checks that a buffer of got elements takes want.
func (x *coll) lengthFor(name string, got, want int) error {
	if got < want {
		return x.errorf(ErrCount, "the %s buffer has %d elements, %d are needed", name, got, want)
	}
	return nil
}
