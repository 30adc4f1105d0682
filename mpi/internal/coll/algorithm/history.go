package algorithm

import "sync/atomic"

// Ranks that make different calls are found by what they have called so far. Each rank hashes its calls on a
// communicator, one after the other: kind, form (one that waits or not), root, operation, and length where all ranks
// have the same. So two ranks that have equal hashes agree in all calls, not only in the last one. Half of the hash is
// in each place of a shared segment, and Finalize compares all of it. Tags of messages have some bits: of this hash
// between ranks of one process, else of a hash of the call alone.
//
// Element types have a hash of their own, since not every rank knows with what its type may be compared: elements of
// MPI_PACKED, and of a type that mixes basics, match more than one type. A rank that has used one compares no types on
// that communicator any more.

// History is what a rank has called on a communicator. The call that runs sets it; Finalize reads it.
type History struct {
	Calls atomic.Uint64
	Types atomic.Uint64 // 32 bits of the types; 0: not to be compared
}

// BeginHistory starts a past, without types if they are not to be compared.
func (p *History) BeginHistory(types bool) {
	if types {
		p.Types.Store(1)
	}
}

// Stir is a hash of h and of a word. Words that differ give hashes that differ.
func Stir(h, word uint64) uint64 {
	h = (h ^ word) * 0x9e3779b97f4a7c15
	return h ^ h>>32
}

// HeadOf is a hash of all calls, the last of which is word. Its length, which is told apart, is not in it.
func (p *History) HeadOf(word uint64) uint64 { return Stir(p.Calls.Load(), word) }

// KindOf has for each algorithm the number of its collective, which all algorithms of it have in common.
var KindOf = func() (all [Count]uint8) {
	first := make(map[string]uint8)
	for w := range Count {
		name := w.String()
		if _, ok := first[name]; !ok {
			first[name] = uint8(w)
		}
		all[w] = first[name]
	}
	return all
}()

// Combining has a bit for each algorithm of a reduction.
var Combining = func() (bits uint64) {
	for w := range Count {
		switch w.String() {
		case "Reduce", "Allreduce", "Scan", "Exscan", "ReduceScatter", "ReduceScatterBlock":
			bits |= 1 << w
		}
	}
	return bits
}()

const _ = uint(1<<WordLater - Count) // numbers of kinds fit

// SameTypes compares what two ranks know of the types of their calls.
func SameTypes(a, b uint64) bool { return a == b || a == 0 || b == 0 }

// Parts of the word of a call. A root takes the rest.
const (
	wordKind  = 0 // and whether it combines
	WordLater = 7
	WordOp    = 8
	WordRoot  = 24

	ProgramOp = 1<<16 - 1 // an operation of the program: they are not told apart
)
