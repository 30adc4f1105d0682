// Package schedule says what one rank does in a collective operation: a list of steps that send, receive, copy and
// combine bytes. A schedule is a pure function of the rank, the number of ranks, the algorithm and the sizes. It holds
// no addresses: steps name places in the buffers of the call.
//
// The steps of a schedule are started in their order, and each waits for a number of leading steps to be done. Copies
// and combinations are done when they have been started. Sends and receives are done later, in any order. A Run keeps
// track of that: it is told which steps are done, and tells which ones to start. It does no IO.
package schedule

import (
	"math/bits"
	"slices"
)

// Kind is what a step does.
type Kind uint8

// Kinds of steps.
const (
	Send    Kind = iota // sends At to Peer
	Recv                // receives At from Peer
	Copy                // sets At to A
	Combine             // sets At to A op B; A is of lower ranks. If At is A, the content of B is lost
)

// Buf is a buffer of a call.
type Buf uint8

// Buffers of a call. In and Out may be the same memory where the builder allows it.
const (
	In   Buf = iota // what the rank contributes
	Out             // its result
	Work            // memory to work in, aligned for any element
	Bufs            // how many there are
)

// Mem is a place in a buffer.
type Mem struct {
	Off int // in bytes
	Buf Buf
}

func (m Mem) plusBytes(n int) Mem { return Mem{m.Off + n, m.Buf} }

// Step is one thing to do.
type Step struct {
	Kind  Kind
	Last  bool  // its message is the last of several, for which a call may use another tag
	Alone bool  // the receiver reads the bytes at once, and uses the place again
	Peer  int32 // of a Send or Recv, else of no meaning
	After int32 // so many leading steps must be done before this one is started
	Len   int   // bytes that are sent or received, or of each of the places
	Tail  int   // so many of the bytes that are sent, the last ones, lie in A
	At    Mem   // what is sent, or written
	A, B  Mem   // what is read: A by Copy, both by Combine
}

// Schedule is the list of steps of one rank. A builder fills it; it may be filled again and again.
type Schedule struct {
	Steps []Step
	Work  int // bytes of Work that are needed
	Split int // how many steps have a Tail

	after int   // of the steps to come
	parts []Mem // scratch of a builder
	ends  []int // the same
}

// Place is a rank among Size ranks.
type Place struct{ Rank, Size int }

// rankUp is the rank d further, going round, and down the one d before; d is less than Size.
func (p Place) rankUp(d int) int {
	if d += p.Rank; d >= p.Size {
		d -= p.Size
	}
	return d
}

func (p Place) rankDown(d int) int {
	if d = p.Rank - d; d < 0 {
		d += p.Size
	}
	return d
}

// spanOf is the length of the run of numbers in the branch of number me of a binomial tree, if there were that many
// ranks: a power of two. The one above is me less span; those below are me plus each smaller power of two.
func (p Place) spanOf(me int) int {
	me |= 1 << bits.Len(uint(p.Size-1))
	return me & -me
}

// numberFrom is the rank's number, counted from root, and actual the rank with such a number.
func (p Place) numberFrom(root int) int { return (p.Rank - root + p.Size) % p.Size }

func (p Place) actualRank(number, root int) int { return (number + root) % p.Size }

func (s *Schedule) resetSteps() {
	s.Steps, s.Work, s.Split, s.after = s.Steps[:0], 0, 0, 0
}

// addStep gives a further step. It is filled in its place, as schedules of unknown shape are built in each call.
func (s *Schedule) addStep(k Kind, at Mem, n int) *Step {
	i := len(s.Steps)
	if i == cap(s.Steps) {
		s.Steps = slices.Grow(s.Steps, 1)
	}
	s.Steps = s.Steps[:i+1]
	x := &s.Steps[i]
	x.Kind, x.Last, x.Alone, x.At, x.Len, x.Tail, x.After = k, false, false, at, n, 0, int32(s.after)
	return x
}

func (s *Schedule) sendStep(to int, at Mem, n int) *Step {
	x := s.addStep(Send, at, n)
	x.Peer = int32(to)
	return x
}

func (s *Schedule) recvStep(from int, at Mem, n int) *Step {
	x := s.addStep(Recv, at, n)
	x.Peer = int32(from)
	return x
}

func (s *Schedule) copyBytes(to, from Mem, n int) {
	if n > 0 && to != from {
		s.addStep(Copy, to, n).A = from
	}
}

func (s *Schedule) combineSteps(to, low, high Mem, n int) {
	x := s.addStep(Combine, to, n)
	x.A, x.B = low, high
}

// sendBoth sends what lies in two places, the second of them maybe of no length.
func (s *Schedule) sendBoth(to int, at Mem, n int, tail Mem, ntail int) {
	x := s.sendStep(to, at, n+ntail)
	if ntail > 0 {
		x.Tail, x.A = ntail, tail
		s.Split++
	}
}

// sendAround sends n bytes of a buffer of size bytes, which goes on at its beginning.
func (s *Schedule) sendAround(to int, at Mem, n, size int) {
	head := min(n, size-at.Off)
	s.sendBoth(to, at, head, Mem{0, at.Buf}, n-head)
}

// recvAround receives n bytes into a buffer of size bytes, which goes on at its beginning. What follows waits for it.
// A receive into one place may be done without posting it, which saves more than the copies cost.
func (s *Schedule) recvAround(from int, at Mem, n, size int) {
	to, head := at, size-at.Off
	if n > head {
		to = s.workBytes(n)
	}
	s.recvStep(from, to, n)
	s.fenceSteps()
	if n > head {
		s.copyBytes(at, to, head)
		s.copyBytes(Mem{0, at.Buf}, to.plusBytes(head), n-head)
	}
}

// exchangeParts sends and receives, and has what follows wait for both.
func (s *Schedule) exchangeParts(to int, out Mem, nout, from int, in Mem, nin int) {
	s.sendStep(to, out, nout)
	s.recvStep(from, in, nin)
	s.fenceSteps()
}

// fenceSteps makes what follows wait for all steps so far; wait, for step i and those before it.
func (s *Schedule) fenceSteps() { s.waitStep(len(s.Steps) - 1) }

func (s *Schedule) waitStep(i int) { s.after = max(s.after, i+1) }

// workBytes gives n more bytes of Work.
func (s *Schedule) workBytes(n int) Mem {
	at := s.Work
	s.Work += (n + 7) &^ 7
	return Mem{at, Work}
}

// roundsFor is how often 1 must be doubled to reach n.
func roundsFor(n int) int { return bits.Len(uint(n - 1)) }

// Rename makes the schedule one of other ranks: rank i becomes ranks[i].
func (s *Schedule) Rename(ranks []int) {
	for i := range s.Steps {
		if st := &s.Steps[i]; st.Kind == Send || st.Kind == Recv {
			st.Peer = int32(ranks[st.Peer])
		}
	}
}
