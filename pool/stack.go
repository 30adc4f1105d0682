package pool

import (
	"fmt"
	"sync/atomic"
)

// Stack is the lock-free stack that the original pool was measured against (Treiber's). It holds a fixed set of
// elements, and is here for comparison: every call of every goroutine goes through one word.
type Stack[T any] struct {
	// top is a change count in the upper half and the index of the youngest element, plus 1, in the lower; 0 there
	// is none. The count makes a comparison fail if the same element has come back meanwhile.
	top   atomic.Uint64
	_     [120]byte
	elems []Elem[T]
}

// Elem is an element of a Stack.
type Elem[T any] struct {
	next  atomic.Uint32 // index plus 1 of the element below; read also by those who lost the race for this one
	index uint32        // of this element; read only
	Value T
}

// NewStack makes a stack that holds n elements, 1 to 2^30. It returns ErrOptions for other sizes.
func NewStack[T any](n int) (*Stack[T], error) {
	if n < 1 || n > maxRoom {
		return nil, fmt.Errorf("%w: %d elements, allowed 1 to %d", ErrOptions, n, maxRoom)
	}
	s := &Stack[T]{elems: make([]Elem[T], n)}
	for i := range s.elems {
		s.elems[i].index = uint32(i)
		s.Push(&s.elems[i])
	}
	return s, nil
}

// Pop takes the element pushed last, or returns nil.
func (s *Stack[T]) Pop() *Elem[T] {
	for {
		top := s.top.Load()
		if uint32(top) == 0 {
			return nil
		}
		e := &s.elems[uint32(top)-1]
		// The element may be popped and pushed again between these two; then the count has changed.
		if s.top.CompareAndSwap(top, changed(top)|uint64(e.next.Load())) {
			return e
		}
	}
}

// Push puts back e, which Pop of the same stack has returned.
func (s *Stack[T]) Push(e *Elem[T]) {
	for {
		top := s.top.Load()
		e.next.Store(uint32(top))
		if s.top.CompareAndSwap(top, changed(top)|uint64(e.index+1)) {
			return
		}
	}
}

// changed returns the next change count of top, in place, and no element.
func changed(top uint64) uint64 { return (top>>32 + 1) << 32 }
