package schedule

import "testing"

// TestInterBarrierHoldsBothGroups: no rank of either group leaves before all ranks of both have come. What a rank knows
// of who has come goes with each message.
func TestInterBarrierHoldsBothGroups(t *testing.T) {
	for size := 2; size <= 9; size++ {
		for first := 1; first < size; first++ {
			c := call{size: size, first: first}
			steps, knows := make([][]Step, size), make([]uint32, size)
			for r := range size {
				var s Schedule
				s.InterBarrier(c.inter(r))
				steps[r], knows[r] = s.Steps, 1<<r
			}
			way := map[[2]int][]uint32{} // what is under way from one to another
			for goes := true; goes; {
				goes = false
				for r := range size {
					for len(steps[r]) > 0 {
						x := steps[r][0]
						peer := c.peer(r, int(x.Peer))
						if x.Kind == Send {
							way[[2]int{r, peer}] = append(way[[2]int{r, peer}], knows[r])
						} else if got := way[[2]int{peer, r}]; len(got) > 0 {
							knows[r] |= got[0]
							way[[2]int{peer, r}] = got[1:]
						} else {
							break
						}
						steps[r], goes = steps[r][1:], true
					}
				}
			}
			for r := range size {
				if len(steps[r]) > 0 || knows[r] != 1<<size-1 {
					t.Errorf("%d ranks, %d of them in the first group: rank %d has %d steps left, and knows that %b have come", size, first, r, len(steps[r]), knows[r])
				}
			}
		}
	}
}
