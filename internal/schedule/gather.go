package schedule

// Rooted is a gather, whose parts go up to root, or a scatter, whose parts go down from it. The parts of all ranks lie
// at root, in Out of a gather and In of a scatter. A rank's own part is the other buffer.
type Rooted struct {
	Root    int
	N       int // bytes of the rank's own part
	Down    bool
	InPlace bool // root's own part is the one among all
}

// Star exchanges a part between root and each rank: all at once, in any order. The parts are used at root only.
func (s *Schedule) Star(p Place, r Rooted, parts *Parts) {
	s.resetSteps()
	own := Mem{0, In}
	if r.Down {
		own = Mem{0, Out}
	}
	s.starParts(p, &r, own, parts)
}

func (s *Schedule) starParts(p Place, r *Rooted, own Mem, parts *Parts) {
	if p.Rank != r.Root {
		s.addMessage(!r.Down, r.Root, own, r.N)
		return
	}
	among, n := parts.partOf(p.Rank)
	s.keepRoots(r, false, among, own, n)
	for d := 1; d < p.Size; d++ {
		at, n := parts.partOf(p.rankUp(d))
		s.addMessage(r.Down, p.rankUp(d), at, n)
	}
	s.keepRoots(r, true, own, among, n)
}

// keepRoots copies root's own part: before it waits in a gather, and after it has sent in a scatter.
func (s *Schedule) keepRoots(r *Rooted, down bool, to, from Mem, n int) {
	if r.Down == down && !r.InPlace {
		s.copyBytes(to, from, n)
	}
}

// addMessage sends, or receives.
func (s *Schedule) addMessage(send bool, peer int, at Mem, n int) {
	if send {
		s.sendStep(peer, at, n)
	} else {
		s.recvStep(peer, at, n)
	}
}

// Tree has equal parts go over a binomial tree. A rank has the parts of a run of ranks, counted from root, of which
// it is the first. The buffer of root holds all, going round.
func (s *Schedule) Tree(p Place, r Rooted) {
	s.resetSteps()
	me := p.numberFrom(r.Root)
	span := p.spanOf(me)
	if run := min(span, p.Size-me); r.Down {
		s.scatterTree(p, &r, me, span, run)
	} else {
		s.gatherTree(p, &r, Out, me, span, run)
	}
}

// gatherTree makes a rank but root receive into Work, and send its own part from where that lies. Root has all
// parts at the beginning of a buffer.
func (s *Schedule) gatherTree(p Place, r *Rooted, all Buf, me, span, run int) {
	own, n := Mem{0, In}, r.N
	var rest Mem
	if me > 0 {
		rest = s.workBytes(n * (run - 1))
	} else if !r.InPlace {
		s.copyBytes(Mem{p.Rank * n, all}, own, n)
	}
	for k := 1; k < run; k *= 2 {
		from, more := p.actualRank(me+k, r.Root), n*min(k, run-k)
		if me == 0 {
			s.recvAround(from, Mem{from * n, all}, more, n*p.Size)
		} else {
			s.recvStep(from, rest.plusBytes(n*(k-1)), more)
			s.fenceSteps()
		}
	}
	if me > 0 {
		s.sendBoth(p.actualRank(me-span, r.Root), own, n, rest, n*(run-1))
	}
}

// scatterTree makes a rank but root receive into Work, if others are below it.
func (s *Schedule) scatterTree(p Place, r *Rooted, me, span, run int) {
	n, own := r.N, Mem{p.Rank * r.N, In}
	if me > 0 {
		if own = (Mem{0, Out}); run > 1 {
			own = s.workBytes(n * run)
		}
		s.recvStep(p.actualRank(me-span, r.Root), own, n*run)
		s.fenceSteps()
	}
	for k := span / 2; k > 0; k /= 2 {
		if k >= run {
			continue
		}
		to, more := p.actualRank(me+k, r.Root), n*min(k, run-k)
		if me == 0 {
			s.sendAround(to, Mem{to * n, In}, more, n*p.Size)
		} else {
			s.sendStep(to, own.plusBytes(n*k), more)
		}
	}
	if !r.InPlace {
		s.copyBytes(Mem{0, Out}, own, n)
	}
}
