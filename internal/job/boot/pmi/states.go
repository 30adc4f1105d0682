package pmi

import "slices"

type rankState uint8

const (
	rankNew     rankState = iota // has not sent init
	rankReady                    // may send requests
	rankBarrier                  // waits in the barrier
	rankFinal                    // has sent finalize or abort
	rankGone                     // its connection has ended without finalize
	rankLeft                     // has sent CmdLeave: the others are about to, and need no barrier any more
)

// states is the state of each rank of a job. It keeps apart those that decide a barrier, so that a message costs no
// look at all ranks. Nothing else of the server touches what it holds.
type states struct {
	byRank    []rankState
	waiting   int   // ranks in state rankBarrier
	left      int   // ranks in state rankLeft
	atBarrier []int // ranks that have come to the barrier, and may have ended since
	ended     []int // ranks in state rankFinal or beyond, in the order of their ends
	looks     int   // at a state, since the beginning; for tests
}

func newStates(ranks int) *states { return &states{byRank: make([]rankState, ranks)} }

// stateOf is the state of a rank.
func (s *states) stateOf(rank int) rankState {
	s.looks++
	return s.byRank[rank]
}

// moveRank sets the state of a rank. None moves back from the end.
func (s *states) moveRank(rank int, st rankState) {
	old := s.stateOf(rank)
	s.byRank[rank] = st
	s.countState(old, -1)
	s.countState(st, 1)
	if st == rankBarrier {
		s.atBarrier = append(s.atBarrier, rank)
	}
	if hasEnded(st) && !hasEnded(old) {
		s.ended = append(s.ended, rank)
	}
}

func (s *states) countState(st rankState, d int) {
	if st == rankBarrier {
		s.waiting += d
	}
	if st == rankLeft {
		s.left += d
	}
}

// letOut makes the ranks in the barrier ready, and lists them in ascending order.
func (s *states) letOut() (out []int) {
	for _, r := range s.atBarrier {
		if s.stateOf(r) == rankBarrier {
			s.moveRank(r, rankReady)
			out = append(out, r)
		}
	}
	s.atBarrier = s.atBarrier[:0]
	slices.Sort(out)
	return out
}

// goneRanks lists the ranks that have ended, in ascending order.
func (s *states) goneRanks() []int {
	s.looks += len(s.ended)
	return slices.Sorted(slices.Values(s.ended))
}

// missingRanks lists the ranks that are not in the barrier, in ascending order. It looks at all ranks.
func (s *states) missingRanks() (out []int) {
	for r := range s.byRank {
		if s.stateOf(r) != rankBarrier {
			out = append(out, r)
		}
	}
	return out
}

func hasEnded(st rankState) bool { return st >= rankFinal }
