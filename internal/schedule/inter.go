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

// farPeer is the peer that is that rank of the other group.
func (x Inter) farPeer(rank int) int { return x.Size + rank }

// InterBarrier is a barrier of all ranks of both groups, in a circle in which one group follows the other. So each rank
// may count from the first of its own.
func (s *Schedule) InterBarrier(x Inter) {
	s.resetSteps()
	all := Place{x.Rank, x.Size + x.Remote}
	for d := 1; d < all.Size; d *= 2 {
		s.exchangeParts(all.rankUp(d), Mem{}, 0, all.rankDown(d), Mem{}, 0)
	}
}

// InterBcast sends the n bytes of Out at root to rank 0 of the other group, and down a tree there.
func (s *Schedule) InterBcast(x Inter, root, n int) {
	s.resetSteps()
	switch root {
	case NoPart:
	case RootHere:
		s.sendStep(x.farPeer(0), Mem{0, Out}, n)
	default:
		s.bcastFrom(x.Place, 0, x.farPeer(root), Mem{0, Out}, n)
	}
}

// InterReduce combines In of the other group's ranks into Out of root: in a tree to their rank 0, and from there.
func (s *Schedule) InterReduce(x Inter, root int, l Lengths) {
	s.resetSteps()
	switch root {
	case NoPart:
	case RootHere:
		for at := 0; at == 0 || at < l.N; at += l.Segment {
			r := s.recvStep(x.farPeer(0), Mem{at, Out}, min(l.Segment, l.N-at))
			r.Last = at+r.Len == l.N
		}
	default:
		s.reduceTo(x, x.farPeer(root), l)
	}
}

// reduceTo combines In of the rank's group at its rank 0, which sends it on to a peer, if there is one. It gives where
// the result lies there.
func (s *Schedule) reduceTo(x Inter, to int, l Lengths) Mem {
	b := x.branchOf(0)
	if x.Rank == 0 {
		b.to = to
	}
	acc := s.apartMemory(&b, l)
	s.reduceBranch(&b, l, acc)
	return acc
}

// InterAllreduce combines In of each group into Out of all ranks of the other one: the ranks 0 swap the results.
func (s *Schedule) InterAllreduce(x Inter, l Lengths) {
	s.resetSteps()
	at := s.reduceTo(x, nobody, l)
	s.swapFirst(x, at, l.N, Mem{0, Out}, l.N)
	s.bcastFrom(x.Place, 0, nobody, Mem{0, Out}, l.N)
}

// swapFirst makes the ranks 0 of both groups exchange. What follows waits for that.
func (s *Schedule) swapFirst(x Inter, out Mem, nout int, in Mem, nin int) {
	if x.Rank == 0 {
		s.exchangeParts(x.farPeer(0), out, nout, x.farPeer(0), in, nin)
	}
}

// InterReduceScatter is InterAllreduce whose result the ranks of a group share: each gets its part, in Out. The parts
// are those of its own group, one behind the other. Both groups have vectors of l.N bytes.
func (s *Schedule) InterReduceScatter(x Inter, l Lengths, parts *Parts) {
	s.resetSteps()
	if x.Rank == 0 {
		s.workBytes(l.N) // at the beginning of Work, as parts tell places in a buffer
	}
	at := s.reduceTo(x, nobody, l)
	s.swapFirst(x, at, l.N, Mem{0, Work}, l.N)
	there := *parts
	there.Buf = Work
	_, n := there.partOf(x.Rank)
	s.starParts(x.Place, &Rooted{N: n, Down: true}, Mem{0, Out}, &there)
}

// InterAllgather gives each rank the m bytes of In of each rank of the other group, in Out. Its own In has n bytes.
// The parts of a group go up a tree, the ranks 0 swap them, and they go down a tree.
func (s *Schedule) InterAllgather(x Inter, n, m int) {
	s.resetSteps()
	if x.Rank == 0 {
		s.workBytes(n * x.Size)
	}
	span := x.spanOf(x.Rank)
	s.gatherTree(x.Place, &Rooted{N: n}, Work, x.Rank, span, min(span, x.Size-x.Rank))
	s.swapFirst(x, Mem{0, Work}, n*x.Size, Mem{0, Out}, m*x.Remote)
	s.bcastFrom(x.Place, 0, nobody, Mem{0, Out}, m*x.Remote)
}

// InterAllgatherv gives each rank In of each rank of the other group in the parts. A rank knows the lengths of those
// only, so each sends its n bytes to rank 0 of the other group. From there they go down a tree.
func (s *Schedule) InterAllgatherv(x Inter, n int, parts *Parts) {
	s.resetSteps()
	s.sendStep(x.farPeer(0), Mem{0, In}, n)
	other := Place{0, x.Remote}
	s.setEnds(other, 0, x.Remote, parts)
	total := s.ends[x.Remote]
	all := s.workBytes(total)
	if x.Rank == 0 {
		for i := range x.Remote {
			s.recvStep(x.farPeer(i), all.plusBytes(s.ends[i]), s.ends[i+1]-s.ends[i])
		}
		s.fenceSteps()
	}
	s.bcastFrom(x.Place, 0, nobody, all, total)
	s.dealParts(other, 0, 0, x.Remote, parts, all, true)
}

// InterGather has root get In of the other group's ranks, n bytes at each, in the parts. It knows their lengths.
func (s *Schedule) InterGather(x Inter, root, n int, parts *Parts) {
	s.resetSteps()
	s.exchangeFar(x, root, false, Mem{0, In}, n, parts)
}

// InterScatter gives each rank of the other group its part, of n bytes, from root, in Out. Root knows the lengths.
func (s *Schedule) InterScatter(x Inter, root, n int, parts *Parts) {
	s.resetSteps()
	s.exchangeFar(x, root, true, Mem{0, Out}, n, parts)
}

// exchangeFar exchanges the parts with root, all at once.
func (s *Schedule) exchangeFar(x Inter, root int, down bool, own Mem, n int, parts *Parts) {
	switch root {
	case NoPart:
	case RootHere:
		for i := range x.Remote {
			at, n := parts.partOf(i)
			s.addMessage(down, x.farPeer(i), at, n)
		}
	default:
		s.addMessage(!down, x.farPeer(root), own, n)
	}
}

// InterAlltoall sends part i of from of each rank to rank i of the other group, and receives what that sends into part
// i of to. In a round a rank sends to the one d further, and receives from the one d before, counted as if both groups
// had the size of the larger one.
func (s *Schedule) InterAlltoall(x Inter, from, to *Parts) {
	s.resetSteps()
	both := Place{x.Rank, max(x.Size, x.Remote)}
	for d := range both.Size {
		if i := both.rankUp(d); i < x.Remote {
			at, n := from.partOf(i)
			s.sendStep(x.farPeer(i), at, n)
		}
		if i := both.rankDown(d); i < x.Remote {
			at, n := to.partOf(i)
			s.recvStep(x.farPeer(i), at, n)
		}
		s.fenceSteps()
	}
}
