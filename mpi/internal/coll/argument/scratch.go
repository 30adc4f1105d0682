package argument

import (
	"math/bits"
	"sync"
	"unsafe"
)

// SmallScratch is how many words of memory to work in a communicator has of its own.
const SmallScratch = 64

// Scratch is memory that collectives work in, aligned for any element.
type Scratch struct {
	words []uint64
	Lost  bool // messages may still come into it
}

var scratches = sync.Pool{New: func() any { return new(Scratch) }}

// Borrow gives n bytes, with unknown content, and the scratch to give back.
func Borrow(n int) ([]byte, *Scratch) {
	s := scratches.Get().(*Scratch)
	need := (n + 7) / 8
	if cap(s.words) < need {
		s.words = make([]uint64, 1<<bits.Len(uint(max(need, 8)-1)))
	}
	w := s.words[:cap(s.words)]
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), 8*len(w))[:n], s
}

func (s *Scratch) Release() {
	if s != nil && !s.Lost {
		scratches.Put(s)
	}
}
