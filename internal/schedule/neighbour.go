package schedule

import (
	"iter"
	"slices"
)

// Neighbours are those of a rank in a topology (8.6), as ranks. A negative one is none: nothing goes there or comes
// from there. A rank may be named several times, and may be its own neighbour.
type Neighbours struct {
	From, To []int // what part i of Out comes from, and what part i of In goes to

	// Pairs says that From and To are both pairs: in the negative and in the positive direction of a dimension. What
	// goes in one direction comes from the other one, also where both are the same rank.
	Pairs bool
}

// orderOf is the place in To of what is sent as i-th.
func (n *Neighbours) orderOf(i int) int {
	if n.Pairs && i^1 < len(n.To) {
		return i ^ 1
	}
	return i
}

// NeighbourAllgather sends the n bytes of In to all neighbours of a rank, and receives the parts of to from them.
func (s *Schedule) NeighbourAllgather(rank int, near *Neighbours, n int, to *Parts) {
	s.NeighbourAlltoall(rank, near, &Parts{Buf: In, Each: n, One: true}, to)
}

// NeighbourAlltoall sends part i of from to a rank's i-th neighbour, and receives the parts of to from them: all at
// once. Between two ranks messages are matched in the order of the lists. What a rank sends to itself is copied; the
// caller has checked that such parts are equally long.
func (s *Schedule) NeighbourAlltoall(rank int, near *Neighbours, from, to *Parts) {
	s.resetSteps()
	for i, peer := range near.From {
		if at, n := to.partOf(i); peer >= 0 && peer != rank {
			s.recvStep(peer, at, n)
		}
	}
	for i := range near.To {
		i = near.orderOf(i)
		if peer := near.To[i]; peer >= 0 && peer != rank {
			at, n := from.partOf(i)
			s.sendStep(peer, at, n)
		}
	}
	for i, j := range near.Selves(rank) {
		at, n := from.partOf(i)
		into, room := to.partOf(j)
		s.copyBytes(into, at, min(n, room))
	}
}

// Selves gives what a rank sends to itself: the place in To, and the place in From where it comes.
func (n *Neighbours) Selves(rank int) iter.Seq2[int, int] {
	return func(yield func(i, j int) bool) {
		j := 0
		for i := range n.To {
			if i = n.orderOf(i); n.To[i] != rank {
				continue
			}
			for j < len(n.From) && n.From[j] != rank {
				j++
			}
			if j == len(n.From) || !yield(i, j) {
				return
			}
			j++
		}
	}
}

// IdleFrom tells of each part of Out that nothing comes to it: no neighbour is there, or it is the rank itself, which
// sends itself nothing more. nil: something comes to all of them.
func (n *Neighbours) IdleFrom(rank int) []bool {
	return n.idleIn(n.From, rank, func(_, from int) int { return from })
}

// IdleTo is IdleFrom for the parts of In, and what leaves from them.
func (n *Neighbours) IdleTo(rank int) []bool {
	return n.idleIn(n.To, rank, func(to, _ int) int { return to })
}

// idleIn tells of each place in a list of peers that no step uses it. side gives the place that a copy uses.
func (n *Neighbours) idleIn(peers []int, rank int, side func(to, from int) int) []bool {
	idle := make([]bool, len(peers))
	for i, peer := range peers {
		idle[i] = peer < 0 || peer == rank
	}
	for i, j := range n.Selves(rank) {
		idle[side(i, j)] = false
	}
	if !slices.Contains(idle, true) {
		return nil
	}
	return idle
}
