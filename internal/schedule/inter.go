package schedule

// Inter is a rank's place in an inter-communicator: that in its own group, and how many ranks the other group has.
// Peers of its steps are the ranks of its own group, and behind them those of the other one.
type Inter struct {
	Place
	Remote int
}

// What a rank gives as root, if not the rank of root in the other group. The numbers are those of MPI_ROOT and
// MPI_PROC_NULL.
const (
	RootHere = -4 // it is root itself
	NoPart   = -3 // root is another rank of its own group
)

// far is the peer that is that rank of the other group.
func (x Inter) far(rank int) int { return x.Size + rank }

// InterBarrier is a barrier of all ranks of both groups, in a circle in which one group follows the other. So each rank
// may count from the first of its own.
func (s *Schedule) InterBarrier(x Inter) {
	s.reset()
	all := Place{x.Rank, x.Size + x.Remote}
	for d := 1; d < all.Size; d *= 2 {
		s.exchange(all.up(d), Mem{}, 0, all.down(d), Mem{}, 0)
	}
}

// InterBcast sends the n bytes of Out at root to rank 0 of the other group, and down a tree there.
func (s *Schedule) InterBcast(x Inter, root, n int) {
	s.reset()
	switch root {
	case NoPart:
	case RootHere:
		s.send(x.far(0), Mem{0, Out}, n)
	default:
		s.bcast(x.Place, 0, x.far(root), Mem{0, Out}, n)
	}
}

// InterReduce combines In of the other group's ranks into Out of root: in a tree to their rank 0, and from there.
func (s *Schedule) InterReduce(x Inter, root int, l Lengths) {
	s.reset()
	switch root {
	case NoPart:
	case RootHere:
		for at := 0; at == 0 || at < l.N; at += l.Segment {
			r := s.recv(x.far(0), Mem{at, Out}, min(l.Segment, l.N-at))
			r.Last = at+r.Len == l.N
		}
	default:
		s.reduceTo(x, x.far(root), l)
	}
}

// reduceTo combines In of the rank's group at its rank 0, which sends it on to a peer, if there is one. It gives where
// the result lies there.
func (s *Schedule) reduceTo(x Inter, to int, l Lengths) Mem {
	b := x.branch(0)
	if x.Rank == 0 {
		b.to = to
	}
	acc := s.apart(&b, l)
	s.reduce(&b, l, acc)
	return acc
}

// InterAllreduce combines In of each group into Out of all ranks of the other one: the ranks 0 swap the results.
func (s *Schedule) InterAllreduce(x Inter, l Lengths) {
	s.reset()
	at := s.reduceTo(x, nobody, l)
	s.swapFirst(x, at, l.N, Mem{0, Out}, l.N)
	s.bcast(x.Place, 0, nobody, Mem{0, Out}, l.N)
}

// swapFirst makes the ranks 0 of both groups exchange. What follows waits for that.
func (s *Schedule) swapFirst(x Inter, out Mem, nout int, in Mem, nin int) {
	if x.Rank == 0 {
		s.exchange(x.far(0), out, nout, x.far(0), in, nin)
	}
}

// InterReduceScatter is InterAllreduce whose result the ranks of a group share: each gets its part, in Out. The parts
// are those of its own group, one behind the other. Both groups have vectors of l.N bytes.
func (s *Schedule) InterReduceScatter(x Inter, l Lengths, parts *Parts) {
	s.reset()
	if x.Rank == 0 {
		s.work(l.N) // at the beginning of Work, as parts tell places in a buffer
	}
	at := s.reduceTo(x, nobody, l)
	s.swapFirst(x, at, l.N, Mem{0, Work}, l.N)
	there := *parts
	there.Buf = Work
	_, n := there.Of(x.Rank)
	s.star(x.Place, &Rooted{N: n, Down: true}, Mem{0, Out}, &there)
}

// InterAllgather gives each rank the m bytes of In of each rank of the other group, in Out. Its own In has n bytes.
// The parts of a group go up a tree, the ranks 0 swap them, and they go down a tree.
func (s *Schedule) InterAllgather(x Inter, n, m int) {
	s.reset()
	if x.Rank == 0 {
		s.work(n * x.Size)
	}
	span := x.span(x.Rank)
	s.gatherTree(x.Place, &Rooted{N: n}, Work, x.Rank, span, min(span, x.Size-x.Rank))
	s.swapFirst(x, Mem{0, Work}, n*x.Size, Mem{0, Out}, m*x.Remote)
	s.bcast(x.Place, 0, nobody, Mem{0, Out}, m*x.Remote)
}

// InterAllgatherv gives each rank In of each rank of the other group in the parts. A rank knows the lengths of those
// only, so each sends its n bytes to rank 0 of the other group. From there they go down a tree.
func (s *Schedule) InterAllgatherv(x Inter, n int, parts *Parts) {
	s.reset()
	s.send(x.far(0), Mem{0, In}, n)
	other := Place{0, x.Remote}
	s.around(other, 0, x.Remote, parts)
	total := s.ends[x.Remote]
	all := s.work(total)
	if x.Rank == 0 {
		for i := range x.Remote {
			s.recv(x.far(i), all.plus(s.ends[i]), s.ends[i+1]-s.ends[i])
		}
		s.fence()
	}
	s.bcast(x.Place, 0, nobody, all, total)
	s.deal(other, 0, 0, x.Remote, parts, all, true)
}

// InterGather has root get In of the other group's ranks, n bytes at each, in the parts. It knows their lengths.
func (s *Schedule) InterGather(x Inter, root, n int, parts *Parts) {
	s.reset()
	s.far(x, root, false, Mem{0, In}, n, parts)
}

// InterScatter gives each rank of the other group its part, of n bytes, from root, in Out. Root knows the lengths.
func (s *Schedule) InterScatter(x Inter, root, n int, parts *Parts) {
	s.reset()
	s.far(x, root, true, Mem{0, Out}, n, parts)
}

// far exchanges the parts with root, all at once.
func (s *Schedule) far(x Inter, root int, down bool, own Mem, n int, parts *Parts) {
	switch root {
	case NoPart:
	case RootHere:
		for i := range x.Remote {
			at, n := parts.Of(i)
			s.message(down, x.far(i), at, n)
		}
	default:
		s.message(!down, x.far(root), own, n)
	}
}

// InterAlltoall sends part i of from of each rank to rank i of the other group, and receives what that sends into part
// i of to. In a round a rank sends to the one d further, and receives from the one d before, counted as if both groups
// had the size of the larger one.
func (s *Schedule) InterAlltoall(x Inter, from, to *Parts) {
	s.reset()
	both := Place{x.Rank, max(x.Size, x.Remote)}
	for d := range both.Size {
		if i := both.up(d); i < x.Remote {
			at, n := from.Of(i)
			s.send(x.far(i), at, n)
		}
		if i := both.down(d); i < x.Remote {
			at, n := to.Of(i)
			s.recv(x.far(i), at, n)
		}
		s.fence()
	}
}
