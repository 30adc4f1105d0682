package coll

import (
	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
)

// wordOf is what the call is, as all ranks that make the same call know it. Of two groups each may have an operation of
// its own.
func (x *Call) wordOf(w algorithm.Algorithm, root int) uint64 {
	word := uint64(algorithm.KindOf[w]) | uint64(root)<<algorithm.WordRoot
	if x.async != nil {
		word |= 1 << algorithm.WordLater
	}
	if algorithm.Combining>>(w&63)&1 != 0 && !x.st.betweenGroups() {
		id := uint64(x.op.ID)
		if x.op.User {
			id = algorithm.ProgramOp
		}
		word |= id << algorithm.WordOp
	}
	return word
}

// enterPast adds the call to the past.
func (x *Call) enterPast() {
	p := &x.st.history
	t := p.Types.Load()
	if x.bytes > 0 && t != 0 {
		if t = 0; x.signature != 0 {
			t = algorithm.Stir(p.Types.Load(), x.signature)>>32 | 1
		}
		arch.StoreRel64(&p.Types, t)
	}
	x.seal = uint64(uint32(x.head>>32)|1) | t<<32
	if x.st.poison.Load() != nil {
		x.seal = 0 // only where a rank goes on after a failure, which others may not have been told of
	}
	arch.StoreRel64(&p.Calls, algorithm.Stir(x.head, uint64(x.bytes)))
}

// tagged is the tag of messages of the call that go by an algorithm, from or to root.
func (x *Call) tagged(w algorithm.Algorithm, root int) int {
	n, m := x.st.numbers&63, x.st.marks&63 // which tells the compiler that no shift is too long
	return int(w)<<algorithm.TagShared | root<<(n+m) | int(x.mark>>(64-m))<<n | int(x.call&(1<<n-1))
}

// takeAlgorithm sets the way of the call and its root, which determine the tag of its messages. The call sends and
// receives nothing before that.
func (x *Call) takeAlgorithm(w algorithm.Algorithm, root int) {
	x.alg, x.once, x.bytes = w, !w.Repeats(), 0
	x.word = x.wordOf(w, root)
	x.head = x.st.history.HeadOf(x.word)
	x.mark = x.head
	if !x.st.OfRank.InProcess || x.st.OfRank.isolated.Load() {
		// A rank may go on after a failure, of which ranks learn at different calls. Other processes may be programs in C.
		x.mark = algorithm.Stir(1, x.word)
	}
	x.tag = x.tagged(w, root)
	x.lastTag = x.tag
	e := x.call<<algorithm.TagEntryBits | uint64(x.tag)
	if x.async != nil {
		e |= algorithm.TagEntryLater
	}
	arch.StoreRel64(&x.st.tags[x.call%algorithm.KeptTags], e)
}

// contribution is what the schedule of a call depends on, beside its algorithm and root. It has few fields, so that the
// compiler holds it in registers. One that lies on the stack is written and read in pieces of different length, which
// costs more than the whole comparison.
type contribution struct {
	bytes   int
	elem    int // bytes of an element, if that matters
	inPlace bool
}

// planned is a schedule that is kept for calls of the same way and root, with the same contribution.
type planned struct {
	call  int // algorithm and root
	of    contribution
	steps schedule.Schedule
}

// plansKept is how many are kept, in the places of their algorithms.
const plansKept = 8

// plan takes the algorithm and the root of the call and sets its schedule. It reports whether that must be built.
func (x *Call) plan(w algorithm.Algorithm, root int, of contribution) bool {
	x.takeAlgorithm(w, root)
	x.bytes = of.bytes
	call, p := int(w)<<algorithm.TagShared|root, &x.plans[w%plansKept]
	x.steps = &p.steps
	if p.call == call && p.of == of {
		return false
	}
	p.call, p.of = call, of
	return true
}

// fresh gives a schedule to build that no other call has.
func (x *Call) fresh(w algorithm.Algorithm) *schedule.Schedule {
	p := &x.plans[w%plansKept]
	p.call, x.steps = -1, &p.steps
	return x.steps
}
