package comm

import (
	"fmt"
	"sync/atomic"
)

// Assert is a set of promises that all ranks make for a context (MPI 7.4.4). A promise that is broken ends operations
// with ErrAssert where that is cheap to see.
type Assert uint8

// Promises, with the names of the standard's info keys.
const (
	NoAnySource     Assert = 1 << iota // mpi_assert_no_any_source: no receive or probe from any source
	NoAnyTag                           // mpi_assert_no_any_tag: none with any tag
	AllowOvertaking                    // mpi_assert_allow_overtaking: messages may be matched in any order
	ExactLength                        // mpi_assert_exact_length: a message is as long as the buffer of its receive
)

// firstNeeds is what lets receives invite their messages; see turns.go.
const firstNeeds = NoAnySource | NoAnyTag | ExactLength

// FirstAsserted is the first of the contexts for which promises can be made. Those below pay nothing for them.
const FirstAsserted = 1<<16 - 2048

type assertTable [MaxContext + 1 - FirstAsserted]atomic.Uint32

// Assert sets the promises of a context from FirstAsserted on. It comes before the operations of this rank in that
// context. Messages of other ranks may be earlier.
func (s *Server) Assert(ctx uint16, a Assert) {
	t := s.asserts.Load()
	for t == nil {
		s.asserts.CompareAndSwap(nil, new(assertTable))
		t = s.asserts.Load()
	}
	t[ctx-FirstAsserted].Store(uint32(a))
}

// assertedOf gives the promises of a context.
func (s *Server) assertedOf(ctx uint16) Assert {
	if ctx < FirstAsserted || ctx > MaxContext {
		return 0
	}
	t := s.asserts.Load()
	if t == nil {
		return 0
	}
	return Assert(t[ctx-FirstAsserted].Load())
}

// isSized tells whether the length of a receive of n bytes matters beyond what fits.
func (s *Server) isSized(ctx uint16, n int) bool {
	return n > s.eager && ctx >= FirstAsserted || s.assertedOf(ctx)&ExactLength != 0
}

// checkAssert refuses wildcards that were promised not to come.
func (s *Server) checkAssert(what string, ctx uint16, peer, tag int) error {
	a := s.assertedOf(ctx)
	switch {
	case peer == AnySource && a&NoAnySource != 0:
		return fmt.Errorf("%w: rank %d: %s from any rank, tag %s: no_any_source", ErrAssert, s.rank, what, orAny(tag))
	case tag == AnyTag && a&NoAnyTag != 0:
		return fmt.Errorf("%w: rank %d: %s from rank %s with any tag: no_any_tag", ErrAssert, s.rank, what, orAny(peer))
	}
	return nil
}

// checkAlloc refuses receives of unknown size where sizes were promised to be known.
func (s *Server) checkAlloc(ctx uint16, src, tag int) error {
	if s.assertedOf(ctx)&ExactLength == 0 {
		return nil
	}
	return fmt.Errorf("%w: rank %d: receive of unknown size from rank %s, tag %s: exact_length",
		ErrAssert, s.rank, orAny(src), orAny(tag))
}
