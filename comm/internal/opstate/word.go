package opstate

import (
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/internal/platform/arch"
)

// Word is the state of an operation and the parties that have a hand in it, in one word. Parties change it by compare
// and swap. The owner of an operation that nobody else knows stores to it. The zero Word is not in use.
type Word struct{ word atomic.Uint32 }

// State is a state of a Machine. 0 is that of an operation that is not in use; no rule begins there.
type State uint8

// Holders is a set of parties that have a hand in an operation.
type Holders uint8

// Parties.
const (
	// Caller has started the operation, and takes its result.
	Caller Holders = 1 << iota
	// Queue is the queue of the pair, or the matching, until the operation has left it.
	Queue
	// Peer owes an answer, and knows the operation by its number.
	Peer
	// Transfer is a transfer of bytes by this rank.
	Transfer

	told Holders = 1 << 7 // a flag: Done is completed before its time
)

const stateShift = 8

// State is the state of an operation that does not change meanwhile; else one that it had.
func (w *Word) State() State { return State(w.word.Load() >> stateShift) }

// Hands is the set of parties, with the same restriction.
func (w *Word) Hands() Holders { return Holders(w.word.Load()) &^ told }

// Begin starts a use of the operation. Only its owner may call it, before anyone else knows the operation.
func (w *Word) Begin(s State, h Holders) {
	arch.StoreRel32(&w.word, uint32(s)<<stateShift|uint32(h))
}

// End says what a change of an operation has ended.
type End uint8

// Ends.
const (
	// Nothing has ended.
	Nothing End = iota
	// Completed: only the caller is left. The one that is told so completes Done.
	Completed
	// Freed: nobody is left. The one that is told so gives the operation back to its table.
	Freed
)

// endOfHands compares hands before and after a change.
func endOfHands(before, after Holders) End {
	switch {
	case after&^told == 0:
		return Freed
	case after == Caller && before != Caller:
		return Completed
	}
	return Nothing
}

// Drop removes a party that has a hand in the operation.
func (w *Word) Drop(h Holders) End {
	for {
		old := w.word.Load()
		before := Holders(old)
		if before&h != h {
			panic(fmt.Sprintf("machine: hands %#x let go, there are %#x", h, before))
		}
		if w.word.CompareAndSwap(old, old&^uint32(h)) {
			return endOfHands(before, before&^h)
		}
	}
}

// Leave lets the caller go on while others still have a hand in the operation. Its end is not told any more. The
// caller completes Done. False if only the caller is left, or it has been told to leave already.
func (w *Word) Leave() bool {
	for {
		old := w.word.Load()
		if h := Holders(old); h&told != 0 || h&^Caller == 0 {
			return false
		}
		if w.word.CompareAndSwap(old, old|uint32(told)) {
			return true
		}
	}
}

// Left tells that the caller has left.
func (w *Word) Left() bool { return Holders(w.word.Load())&told != 0 }

// Free ends the use of the operation, which nobody has a hand in. In state 0 without hands nothing can happen to it.
func (w *Word) Free() { arch.StoreRel32(&w.word, 0) }

// Can gives the step of m that in would lead to now, if there is one.
func (w *Word) Can(m *Machine, in Input) (Step, bool) {
	old := w.word.Load()
	s := m.steps[State(old>>stateShift)][in]
	return s, s.Is && Holders(old)&s.Drop == s.Drop
}

// Step makes the step of m that in leads to, and tells what has ended by it. ok is false, and nothing is changed, if
// there is no such step now: the state has none, or a party that would let go has no hand in the operation.
func (w *Word) Step(m *Machine, in Input) (did Step, e End, ok bool) {
	for {
		old := w.word.Load()
		before := Holders(old)
		did = m.steps[State(old>>stateShift)][in]
		if !did.Is || before&did.Drop != did.Drop {
			return Step{}, Nothing, false
		}
		after := before&^did.Drop | did.Take
		if w.word.CompareAndSwap(old, uint32(did.Next)<<stateShift|uint32(after)) {
			return did, endOfHands(before, after), true
		}
	}
}
