package schedule

// Barrier: in round k a rank tells the one 2^k further.
func (s *Schedule) Barrier(p Place) {
	s.reset()
	for d := 1; d < p.Size; d *= 2 {
		s.exchange(p.up(d), Mem{}, 0, p.down(d), Mem{}, 0)
	}
}

// BcastTree has the n bytes of Out at root go down a binomial tree.
func (s *Schedule) BcastTree(p Place, root, n int) {
	s.reset()
	me := p.from(root)
	k := p.span(me)
	if me > 0 {
		s.recv(p.actual(me-k, root), Mem{0, Out}, n)
		s.fence()
	}
	for k /= 2; k > 0; k /= 2 {
		if me+k < p.Size {
			s.send(p.actual(me+k, root), Mem{0, Out}, n)
		}
	}
}

// BcastRing has root deal out elems elements of size bytes in Out, and all ranks pass the parts round.
func (s *Schedule) BcastRing(p Place, root, elems, size int) {
	s.reset()
	parts := Parts{Buf: Out, Elems: elems, Ranks: p.Size, Size: size}
	own, n := parts.Of(p.Rank)
	s.star(p, &Rooted{Root: root, N: n, Down: true, InPlace: true}, own, &parts)
	s.fence()
	s.ring(p, own, &parts)
}

// ring has every rank, which has its own part, get all parts: each passes on to the right what came from the left. own
// is where its part lies.
func (s *Schedule) ring(p Place, own Mem, parts *Parts) {
	_, nout := parts.Of(p.Rank)
	for d := 1; d < p.Size; d++ {
		in, nin := parts.Of(p.down(d))
		s.exchange(p.up(1), own, nout, p.down(1), in, nin)
		own, nout = in, nin
	}
}

// AllgatherSteps has all ranks get the n bytes of In of each, in Out. In each step a rank sends all parts that it
// holds, its own first, so that their number doubles (Bruck). inPlace says that In is its part of Out.
func (s *Schedule) AllgatherSteps(p Place, n int, inPlace bool) {
	s.reset()
	if !inPlace {
		s.copy(Mem{p.Rank * n, Out}, Mem{0, In}, n)
	}
	for have := 1; have < p.Size; have *= 2 {
		more := n * min(have, p.Size-have)
		s.sendAround(p.down(have), Mem{p.Rank * n, Out}, more, n*p.Size)
		s.recvAround(p.up(have), Mem{p.up(have) * n, Out}, more, n*p.Size)
	}
}

// AllgatherRing has all ranks get In of each in the parts, which go round a ring. inPlace says that the rank's own lie
// there already.
func (s *Schedule) AllgatherRing(p Place, parts *Parts, inPlace bool) {
	s.reset()
	if own, n := parts.Of(p.Rank); !inPlace {
		s.copy(own, Mem{0, In}, n)
	}
	s.ring(p, Mem{0, In}, parts)
}

// AlltoallAll has each rank send part i of from to rank i, and receive into part i of to what that sends: all at once.
//
// from may be parts of Work. It then gets a copy of the first saved bytes of Out.
func (s *Schedule) AlltoallAll(p Place, from, to *Parts, saved int) {
	s.reset()
	s.save(saved)
	s.swap(p, from, to)
	s.own(p, from, to)
}

// swap sends the parts of the other ranks, and receives theirs.
func (s *Schedule) swap(p Place, from, to *Parts) {
	for d := 1; d < p.Size; d++ {
		i := p.down(d)
		at, n := to.Of(i)
		s.recv(i, at, n)
	}
	for d := 1; d < p.Size; d++ {
		i := p.up(d)
		at, n := from.Of(i)
		s.send(i, at, n)
	}
}

// save copies n bytes of Out to Work.
func (s *Schedule) save(n int) {
	if n > 0 {
		s.copy(s.work(n), Mem{0, Out}, n)
	}
}

// own copies what the rank sends to itself.
func (s *Schedule) own(p Place, from, to *Parts) {
	at, _ := to.Of(p.Rank)
	was, n := from.Of(p.Rank)
	s.copy(at, was, n)
}

// AlltoallPairs does the same in rounds: in round d a rank sends to the one d further and receives from the one d
// before. It copies its own part while the first message is on its way.
func (s *Schedule) AlltoallPairs(p Place, from, to *Parts, saved int) {
	s.reset()
	s.save(saved)
	if p.Size == 1 {
		s.own(p, from, to)
	}
	for d := 1; d < p.Size; d++ {
		at, n := from.Of(p.up(d))
		s.send(p.up(d), at, n)
		if d == 1 {
			s.own(p, from, to)
		}
		at, n = to.Of(p.down(d))
		s.recv(p.down(d), at, n)
		s.fence()
	}
}
