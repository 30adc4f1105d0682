// Package deathnotice says who tells whom of a rank's death. It is a pure state machine.
//
// A rank that hears of a death tells the ranks at the distances 1, 2, 4, ... round the circle, once. So all know after
// ceil(log2 N) hops, whoever begins, and the news passes several ranks that are dead, too.
package deathnotice

// Notices is what one rank has heard. It grows with the ranks that have died, not with those that live. It is not safe
// for concurrent use.
type Notices struct {
	rank, size int
	heard      map[int32]struct{}
}

// New has heard nothing.
func New(rank, size int) Notices { return Notices{rank: rank, size: size} }

// Hear takes the news that a rank is dead. It returns the ranks that are to be told, the nearest first: none if it was
// known, or if the news makes no sense.
func (n *Notices) Hear(dead int) (tell []int) {
	if dead < 0 || dead >= n.size || dead == n.rank {
		return nil
	}
	if _, known := n.heard[int32(dead)]; known {
		return nil
	}
	if n.heard == nil {
		n.heard = map[int32]struct{}{}
	}
	n.heard[int32(dead)] = struct{}{}
	for d := 1; d < n.size; d *= 2 {
		if to := (n.rank + d) % n.size; to != dead {
			tell = append(tell, to)
		}
	}
	return tell
}

// Alive takes in that a rank was heard. If it is said to be dead once more, it is to be told once more.
func (n *Notices) Alive(rank int) {
	if len(n.heard) > 0 {
		delete(n.heard, int32(rank))
	}
}
