package schedule

// Neighbours are those of a rank in a topology (8.6), as ranks. A negative one is none: nothing goes there or comes
// from there. A rank may be named several times, and may be its own neighbour.
type Neighbours struct {
	From, To []int // what part i of Out comes from, and what part i of In goes to

	// Pairs says that From and To are both pairs: in the negative and in the positive direction of a dimension. What
	// goes in one direction comes from the other one, also where both are the same rank.
	Pairs bool
}

// order is the place in To of what is sent as i-th.
func (n *Neighbours) order(i int) int {
	if n.Pairs && i^1 < len(n.To) {
		return i ^ 1
	}
	return i
}

// NeighbourAllgather has a rank send the n bytes of In to all its neighbours, and get the parts of to from them.
func (s *Schedule) NeighbourAllgather(rank int, near *Neighbours, n int, to *Parts) {
	s.NeighbourAlltoall(rank, near, &Parts{Buf: In, Each: n, One: true}, to)
}

// NeighbourAlltoall has a rank send part i of from to its i-th neighbour, and get the parts of to from them: all at
// once. Between two ranks messages are matched in the order of the lists. What a rank sends to itself is copied; the
// caller has checked that such parts are equally long.
func (s *Schedule) NeighbourAlltoall(rank int, near *Neighbours, from, to *Parts) {
	s.reset()
	for i, peer := range near.From {
		if at, n := to.Of(i); peer >= 0 && peer != rank {
			s.recv(peer, at, n)
		}
	}
	own := 0 // in From
	for i := range near.To {
		i = near.order(i)
		peer := near.To[i]
		at, n := from.Of(i)
		switch {
		case peer < 0:
		case peer != rank:
			s.send(peer, at, n)
		default:
			own = s.toSelf(rank, near.From, own, at, n, to)
		}
	}
}

// toSelf copies a part to the next place in from, at or behind i, where the rank is its own neighbour. It gives the
// place behind that.
func (s *Schedule) toSelf(rank int, from []int, i int, at Mem, n int, to *Parts) int {
	for i < len(from) {
		i++
		if from[i-1] == rank {
			into, room := to.Of(i - 1)
			s.copy(into, at, min(n, room))
			break
		}
	}
	return i
}
