package schedule

// AllreduceDoubling combines the n bytes of In of all ranks into Out of all. In each round a rank swaps results with
// the one whose number differs in one bit. After round k both have the result of a run of 2^(k+1) ranks. If
// the ranks are no power of two, the first ones pair up before, and one of each pair sits the rounds out. Lower ranks
// always come first. In may be Out: inPlace.
//
// What has been combined lies in Out, and before that in In. There is no copy of it: lines that a peer has read are
// slow to write.
func (s *Schedule) AllreduceDoubling(p Place, n int, inPlace bool) {
	s.resetSteps()
	if p.Size == 1 {
		if !inPlace {
			s.copyBytes(Mem{0, Out}, Mem{0, In}, n)
		}
		return
	}
	power, extra := powerIn(p.Size)
	if p.sitsOut(extra) {
		s.sitOut(p, n, n)
		return
	}
	tmp, has, me := s.workBytes(n), Mem{0, In}, p.numberIn(extra)
	if p.Rank < 2*extra {
		s.recvStep(p.Rank-1, tmp, n)
		s.fenceSteps()
		s.joinVectors(Mem{0, Out}, has, tmp, n, true)
		has = Mem{0, Out}
	}
	for k := 1; k < power; k *= 2 {
		peer := doubledRank(me^k, extra)
		s.exchangeParts(peer, has, n, peer, tmp, n)
		s.joinVectors(Mem{0, Out}, has, tmp, n, me&k != 0)
		has = Mem{0, Out}
	}
	if p.Rank < 2*extra {
		s.sendStep(p.Rank-1, Mem{0, Out}, n)
	}
}

// AllreduceShares combines elems elements of size bytes of In of all ranks into Out of all: each rank gets its share of
// all vectors and combines that, and then the shares go round a ring. In may be Out.
func (s *Schedule) AllreduceShares(p Place, elems, size int) {
	s.resetSteps()
	in := Parts{Buf: In, Elems: elems, Ranks: p.Size, Size: size}
	out := in
	out.Buf = Out
	mine, _ := out.partOf(p.Rank)
	slots := s.shareSlots(p, &in)
	s.shareOut(p, &in, &slots, mine, false)
	s.ringParts(p, mine, &out)
}
