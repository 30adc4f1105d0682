package core

import (
	"sync/atomic"

	"github.com/golci/golci/internal/platform/arch"
)

// Ranks that make different calls are found by what they have called so far. Each rank hashes its calls on a
// communicator, one after the other: kind, form (one that waits or not), root, operation, and length where all ranks
// have the same. So two ranks that have equal hashes agree in all calls, not only in the last one. Half of the hash is
// in each place of a shared segment, and Finalize compares all of it. Tags of messages have some bits: of this hash
// between ranks of one process, else of a hash of the call alone.
//
// Element types have a hash of their own, since not every rank knows with what its type may be compared: elements of
// MPI_PACKED, and of a type that mixes basics, match more than one type. A rank that has used one compares no types on
// that communicator any more.

// callHistory is what a rank has called on a communicator. The call that runs sets it; Finalize reads it.
type callHistory struct {
	calls atomic.Uint64
	types atomic.Uint64 // 32 bits of the types; 0: not to be compared
}

// beginHistory starts a past, without types if they are not to be compared.
func (p *callHistory) beginHistory(types bool) {
	if types {
		p.types.Store(1)
	}
}

// stirred is a hash of h and of a word. Words that differ give hashes that differ.
func stirred(h, word uint64) uint64 {
	h = (h ^ word) * 0x9e3779b97f4a7c15
	return h ^ h>>32
}

// headOf is a hash of all calls, the last of which is word. Its length, which is told apart, is not in it.
func (p *callHistory) headOf(word uint64) uint64 { return stirred(p.calls.Load(), word) }

// Parts of the word of a call. A root takes the rest.
const (
	wordKind  = 0 // and whether it combines
	wordLater = 7
	wordOp    = 8
	wordRoot  = 24

	programOp = 1<<16 - 1 // an operation of the program: they are not told apart
)

// kindOfAlgorithm has for each algorithm the number of its collective, which all algorithms of it have in common.
var kindOfAlgorithm = func() (all [algorithms]uint8) {
	first := make(map[string]uint8)
	for w := range algorithms {
		name := w.String()
		if _, ok := first[name]; !ok {
			first[name] = uint8(w)
		}
		all[w] = first[name]
	}
	return all
}()

// combining has a bit for each algorithm of a reduction.
var combining = func() (bits uint64) {
	for w := range algorithms {
		switch w.String() {
		case "Reduce", "Allreduce", "Scan", "Exscan", "ReduceScatter", "ReduceScatterBlock":
			bits |= 1 << w
		}
	}
	return bits
}()

const _ = uint(1<<wordLater - algorithms) // numbers of kinds fit

// wordOf is what the call is, as all ranks that make the same call know it. Of two groups each may have an operation of
// its own.
func (x *Call) wordOf(w algorithm, root int) uint64 {
	word := uint64(kindOfAlgorithm[w]) | uint64(root)<<wordRoot
	if x.async != nil {
		word |= 1 << wordLater
	}
	if combining>>(w&63)&1 != 0 && x.c.local == nil {
		id := uint64(x.op.ID)
		if x.op.User {
			id = programOp
		}
		word |= id << wordOp
	}
	return word
}

// settleCall adds the call to the past, once it is known what is called. Where types are checked all ranks then compare
// what they call.
func (x *Call) settleCall() error {
	if x.size == 1 {
		return nil
	}
	x.enterPast()
	if x.compares() {
		return x.compareAll()
	}
	return nil
}

// enterPast adds the call to the past.
func (x *Call) enterPast() {
	p := &x.st.history
	t := p.types.Load()
	if x.bytes > 0 && t != 0 {
		if t = 0; x.signature != 0 {
			t = stirred(p.types.Load(), x.signature)>>32 | 1
		}
		arch.StoreRel64(&p.types, t)
	}
	x.seal = uint64(uint32(x.head>>32)|1) | t<<32
	if x.st.poison.Load() != nil {
		x.seal = 0 // only where a rank goes on after a failure, which others may not have been told of
	}
	arch.StoreRel64(&p.calls, stirred(x.head, uint64(x.bytes)))
}

// sameTypes compares what two ranks know of the types of their calls.
func sameTypes(a, b uint64) bool { return a == b || a == 0 || b == 0 }
