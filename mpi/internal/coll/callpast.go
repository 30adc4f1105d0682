package coll

import (
	"github.com/golci/golci/internal/platform/arch"
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
