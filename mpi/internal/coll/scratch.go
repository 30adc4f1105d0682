package coll

import (
	"math/bits"
	"sync"
	"unsafe"
)

// smallScratch is how many words of memory to work in a communicator has of its own.
const smallScratch = 64

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
