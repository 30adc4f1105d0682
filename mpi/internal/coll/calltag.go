package coll

import "github.com/golci/golci/mpi/internal/coll/algorithm"

// tagged is the tag of messages of the call that go by an algorithm, from or to root.
func (x *Call) tagged(w algorithm.Algorithm, root int) int {
	n, m := x.st.numbers&63, x.st.marks&63 // which tells the compiler that no shift is too long
	return int(w)<<algorithm.TagShared | root<<(n+m) | int(x.mark>>(64-m))<<n | int(x.call&(1<<n-1))
}

// TextOf tells, for a message of the communicator's collectives, to which call it belongs.
func (st *State) TextOf(tag int) string {
	return algorithm.CallDetail(st.size, st.CallTag(tag), st.state.Load()/2)
}

// CallTag is the tag of the call that a message belongs to. Where ranks compare what they call, it is another than that
// of the message.
func (st *State) CallTag(tag int) int {
	if algorithm.OfTag(tag) != algorithm.Compare {
		return tag
	}
	last := st.state.Load() / 2
	if algorithm.NumberOfTag(st.size, tag) != algorithm.NumberOfTag(st.size, int(last)) {
		return tag
	}
	if call, ok := st.tagOf(last); ok {
		return call
	}
	return tag
}
