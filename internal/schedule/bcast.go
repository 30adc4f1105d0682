package schedule

// BcastTree sends the n bytes of Out at root down a binomial tree.
func (s *Schedule) BcastTree(p Place, root, n int) {
	s.resetSteps()
	s.bcastFrom(p, root, nobody, Mem{0, Out}, n)
}

// nobody is no peer.
const nobody = -1

// bcastFrom sends the n bytes at a place of root down a binomial tree. Root gets them from a peer before, if there is
// one.
func (s *Schedule) bcastFrom(p Place, root, giver int, at Mem, n int) {
	me := p.numberFrom(root)
	k := p.spanOf(me)
	if me > 0 {
		giver = p.actualRank(me-k, root)
	}
	if giver != nobody {
		s.recvStep(giver, at, n)
		s.fenceSteps()
	}
	for k /= 2; k > 0; k /= 2 {
		if me+k < p.Size {
			s.sendStep(p.actualRank(me+k, root), at, n)
		}
	}
}

// BcastRing has root deal out elems elements of size bytes in Out, and all ranks pass the parts round.
func (s *Schedule) BcastRing(p Place, root, elems, size int) {
	s.resetSteps()
	parts := Parts{Buf: Out, Elems: elems, Ranks: p.Size, Size: size}
	own, n := parts.partOf(p.Rank)
	s.starParts(p, &Rooted{Root: root, N: n, Down: true, InPlace: true}, own, &parts)
	s.fenceSteps()
	s.ringParts(p, own, &parts)
}
