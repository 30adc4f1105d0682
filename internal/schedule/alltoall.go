package schedule

// AlltoallAll sends part i of from of each rank to rank i, and receives what that sends into part i of to: all at once.
//
// from may be parts of Work. It then gets a copy of the first saved bytes of Out.
func (s *Schedule) AlltoallAll(p Place, from, to *Parts, saved int) {
	s.resetSteps()
	s.saveOut(saved)
	s.swapParts(p, from, to)
	s.copyOwn(p, from, to)
}

// swapParts sends the parts of the other ranks, and receives theirs.
func (s *Schedule) swapParts(p Place, from, to *Parts) {
	for d := 1; d < p.Size; d++ {
		i := p.rankDown(d)
		at, n := to.partOf(i)
		s.recvStep(i, at, n)
	}
	for d := 1; d < p.Size; d++ {
		i := p.rankUp(d)
		at, n := from.partOf(i)
		s.sendStep(i, at, n)
	}
}

// saveOut copies n bytes of Out to Work.
func (s *Schedule) saveOut(n int) {
	if n > 0 {
		s.copyBytes(s.workBytes(n), Mem{0, Out}, n)
	}
}

// copyOwn copies what the rank sends to itself.
func (s *Schedule) copyOwn(p Place, from, to *Parts) {
	at, _ := to.partOf(p.Rank)
	was, n := from.partOf(p.Rank)
	s.copyBytes(at, was, n)
}

// AlltoallPairs does the same in rounds: in round d a rank sends to the one d further and receives from the one d
// before. It copies its own part while the first message is on its way.
func (s *Schedule) AlltoallPairs(p Place, from, to *Parts, saved int) {
	s.resetSteps()
	s.saveOut(saved)
	if p.Size == 1 {
		s.copyOwn(p, from, to)
	}
	for d := 1; d < p.Size; d++ {
		at, n := from.partOf(p.rankUp(d))
		s.sendStep(p.rankUp(d), at, n)
		if d == 1 {
			s.copyOwn(p, from, to)
		}
		at, n = to.partOf(p.rankDown(d))
		s.recvStep(p.rankDown(d), at, n)
		s.fenceSteps()
	}
}

// AlltoallBruck sends part i of In of each rank to rank i, which gets its part of all in Out. All parts have n bytes.
// Part j of Work is for the rank j further. In round k a rank sends on all parts whose number has bit k, in one
// message, to the rank 2^k further. So each part moves by its number. In may be Out.
func (s *Schedule) AlltoallBruck(p Place, n int) {
	s.resetSteps()
	all, tail := s.workBytes(n*p.Size), n*(p.Size-p.Rank)
	s.copyBytes(all, Mem{n * p.Rank, In}, tail)
	s.copyBytes(all.plusBytes(tail), Mem{0, In}, n*p.Rank)
	most := n * countMarked(p.Size, 1)
	out, in := s.workBytes(most), s.workBytes(most)
	for k := 1; k < p.Size; k *= 2 {
		n := n * countMarked(p.Size, k)
		s.collectBit(p, k, all, out, n, true)
		s.exchangeParts(p.rankUp(k), out, n, p.rankDown(k), in, n)
		s.collectBit(p, k, all, in, n, false)
	}
	for j := range p.Size {
		s.copyBytes(Mem{n * p.rankDown(j), Out}, all.plusBytes(n*j), n)
	}
}

// countMarked is how many of the numbers below size have the bit k.
func countMarked(size, k int) int { return size/(2*k)*k + max(size%(2*k)-k, 0) }

// collectBit copies the parts whose number has the bit k to one piece of Work of whole bytes, or back.
func (s *Schedule) collectBit(p Place, k int, all, piece Mem, whole int, there bool) {
	if whole == 0 {
		return
	}
	each := whole / countMarked(p.Size, k)
	for j := k; j < p.Size; j += 2 * k {
		at, n := all.plusBytes(each*j), each*min(k, p.Size-j)
		if there {
			s.copyBytes(piece, at, n)
		} else {
			s.copyBytes(at, piece, n)
		}
		piece = piece.plusBytes(n)
	}
}
