package core

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/sentinel"
)

func (x *Call) root(root int) error {
	if uint(root) >= uint(x.size) {
		return x.callErrorf(sentinel.ErrRoot, "%d", root)
	}
	return nil
}

// buffer is one of the program: len elements of size bytes.
type buffer struct {
	mem       []byte
	len, size int
}

// Buffers gives x the buffers of its call: where they begin, and how many elements of size bytes they have. A call with
// one buffer has it as out.
func (x *Call) Buffers(in unsafe.Pointer, nIn int, out unsafe.Pointer, nOut, size int) {
	x.buf[schedule.In] = buffer{unsafe.Slice((*byte)(in), nIn*size), nIn, size}
	x.buf[schedule.Out] = buffer{unsafe.Slice((*byte)(out), nOut*size), nOut, size}
}

// Operate gives x the operation of a reduction.
func (x *Call) Operate(o Operator) { x.op = o }

// smallScratch is how many words of memory to work in a communicator has of its own.
const smallScratch = 64

// borrow gives the call n bytes of unknown content, until release. A call has one such piece at a time.
func (x *Call) borrow(n int) ([]byte, *scratch) {
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

func (s *scratch) releaseScratch() {
	if s != nil && !s.lost {
		scratches.Put(s)
	}
}

// lengthFor checks that a buffer of got elements takes want.
func (x *Call) lengthFor(name string, got, want int) error {
	if got < want {
		return x.callErrorf(sentinel.ErrCount, "the %s buffer has %d elements, %d are needed", name, got, want)
	}
	return nil
}
