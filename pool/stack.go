package pool

import (
	"fmt"
	"sync/atomic"
)

// Stack is the lock-free stack of Treiber, with which the LCI paper compares its pool. It holds a fixed set of
// elements. All calls of all goroutines go through one word. It is here for benchmarks.
type Stack[T any] struct {
	// top has a change count in its upper half. Its lower half is the index of the youngest element plus 1, or 0 if
	// there is none. The count makes a comparison fail if the same element has come back meanwhile.
	top   atomic.Uint64
	_     [120]byte
	elems []Elem[T]
}

// Elem is an element of a Stack.
type Elem[T any] struct {
	next  atomic.Uint32 // index plus 1 of the element below; callers that lose a race for this element read it, too
	index uint32        // of this element; read only
	Value T
}

// NewStack makes a stack of n elements, from 1 to 2^30. For other n the error wraps ErrOptions.
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

// Pop takes the youngest element, or returns nil. It does not block or switch threads.
func (s *Stack[T]) Pop() *Elem[T] {
	for {
		top := s.top.Load()
		if uint32(top) == 0 {
			return nil
		}
		e := &s.elems[uint32(top)-1]
		// If the element is popped and pushed again before the comparison, the count has changed.
		if s.top.CompareAndSwap(top, changed(top)|uint64(e.next.Load())) {
			return e
		}
	}
}

// Push puts e back, which Pop of the same stack has returned. It does not block or switch threads.
func (s *Stack[T]) Push(e *Elem[T]) {
	for {
		top := s.top.Load()
		e.next.Store(uint32(top))
		if s.top.CompareAndSwap(top, changed(top)|uint64(e.index+1)) {
			return
		}
	}
}

// changed returns a word with the next change count of top and no element.
func changed(top uint64) uint64 { return (top>>32 + 1) << 32 }
