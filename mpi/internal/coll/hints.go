package coll

// hintedMessages is how many messages to a partner a collective may have under way.
const hintedMessages = 2

// hintPartners hints at the partners of collectives. Trees, dissemination and recursive doubling use the ranks at
// distances of a power of two, rings the next rank. Once for each communicator.
func (st *State) hintPartners() {
	st.hinted = true
	n := len(st.Peers)
	for d := 1; d < n; d *= 2 {
		st.OfRank.Rank.Hint(hintedMessages, st.Server.EagerLimit(), int(st.Peers[(st.Rank+d)%n]),
			int(st.Peers[(st.Rank-d+n)%n]))
	}
}
