package schedule

import (
	"math/rand/v2"
	"testing"
)

// TestIdle: the parts that are idle are those that no step of the schedule has as a place, for lists of any peers.
func TestIdle(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 500 {
		near := Neighbours{Pairs: r.IntN(2) == 0}
		for range r.IntN(7) {
			near.From = append(near.From, r.IntN(4)-1)
		}
		for range r.IntN(7) {
			near.To = append(near.To, r.IntN(4)-1)
		}
		var s Schedule
		s.NeighbourAlltoall(0, &near, &Parts{Buf: In, Each: 1}, &Parts{Buf: Out, Each: 1})
		var used [2][7]bool
		for _, st := range s.Steps {
			used[st.At.Buf][st.At.Off] = true
			if st.Kind == Copy {
				used[st.A.Buf][st.A.Off] = true
			}
		}
		for buf, idle := range [][]bool{near.IdleTo(0), near.IdleFrom(0)} {
			n := len([][]int{near.To, near.From}[buf])
			for i := range n {
				if is := idle != nil && idle[i]; is == used[buf][i] {
					t.Fatalf("seed %d: %+v: part %d of buffer %d: idle %v, used %v", seed, near, i, buf, is, used[buf][i])
				}
			}
		}
	}
}
