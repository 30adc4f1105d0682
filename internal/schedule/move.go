package schedule

// Barrier: in round k a rank tells the one 2^k further.
func (s *Schedule) Barrier(p Place) {
	s.reset()
	for d := 1; d < p.Size; d *= 2 {
		s.exchange(p.up(d), Mem{}, 0, p.down(d), Mem{}, 0)
	}
}

// BcastTree has the n bytes of Out at root go down a binomial tree. The rank whose number, counted from root, has
// lowest bit k receives from the one without that bit, and sends on to those with a lower bit set.
func (s *Schedule) BcastTree(p Place, root, n int) {
	s.reset()
	me, k := p.from(root), 1
	for ; k < p.Size; k *= 2 {
		if me&k != 0 {
			s.recv(p.actual(me-k, root), Mem{0, Out}, n)
			s.fence()
			break
		}
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
	if p.Rank != root {
		at, n := parts.Of(p.Rank)
		s.recv(root, at, n)
	} else {
		for i := 1; i < p.Size; i++ {
			to := p.up(i)
			at, n := parts.Of(to)
			s.send(to, at, n)
		}
	}
	s.fence()
	own, _ := parts.Of(p.Rank)
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

// GatherTree has the n bytes of In of each rank go up a binomial tree to Out of root, by rank. Each rank holds a run of
// ranks, counted from root. In may be its part of Out.
func (s *Schedule) GatherTree(p Place, root, n int) {
	s.reset()
	me := p.from(root)
	mem := s.work(n * p.Size)
	s.copy(mem, Mem{0, In}, n)
	for k := 1; k < p.Size; k *= 2 {
		if me&k != 0 {
			s.send(p.actual(me-k, root), mem, n*min(k, p.Size-me))
			return
		}
		if me+k < p.Size {
			s.recv(p.actual(me+k, root), mem.plus(n*k), n*min(k, p.Size-me-k))
			s.fence()
		}
	}
	for i := range p.Size { // only root gets here
		s.copy(Mem{p.actual(i, root) * n, Out}, mem.plus(i*n), n)
	}
}

// GatherAll has root receive the n bytes of In of each rank, in any order, into the parts. inPlace says that root's own
// lie there already.
func (s *Schedule) GatherAll(p Place, root, n int, parts *Parts, inPlace bool) {
	s.reset()
	if p.Rank != root {
		s.send(root, Mem{0, In}, n)
		return
	}
	if own, n := parts.Of(root); !inPlace {
		s.copy(own, Mem{0, In}, n)
	}
	for i := range p.Size {
		if i != root {
			at, n := parts.Of(i)
			s.recv(i, at, n)
		}
	}
}

// ScatterTree has the parts of In of root, n bytes each, go down a binomial tree, to Out of each rank. Each rank gets
// the parts of a run of ranks, counted from root. Out of root may be its part.
func (s *Schedule) ScatterTree(p Place, root, n int) {
	s.reset()
	me, k := p.from(root), 1
	mem := s.work(n * p.Size)
	if me == 0 {
		for i := range p.Size {
			s.copy(mem.plus(i*n), Mem{p.actual(i, root) * n, In}, n)
		}
	}
	for ; k < p.Size; k *= 2 {
		if me&k != 0 {
			s.recv(p.actual(me-k, root), mem, n*min(k, p.Size-me))
			s.fence()
			break
		}
	}
	for k /= 2; k > 0; k /= 2 {
		if me+k < p.Size {
			s.send(p.actual(me+k, root), mem.plus(n*k), n*min(k, p.Size-me-k))
		}
	}
	s.copy(Mem{0, Out}, mem, n)
}

// ScatterAll has root send each rank its part, into its n bytes of Out. inPlace says that root's own lie there already.
func (s *Schedule) ScatterAll(p Place, root, n int, parts *Parts, inPlace bool) {
	s.reset()
	if p.Rank != root {
		s.recv(root, Mem{0, Out}, n)
		return
	}
	for i := range p.Size {
		if i != root {
			at, n := parts.Of(i)
			s.send(i, at, n)
		}
	}
	if own, n := parts.Of(root); !inPlace {
		s.copy(Mem{0, Out}, own, n)
	}
}

// AllgatherSteps has all ranks get the n bytes of In of each, in Out. In each step a rank sends all parts that it
// holds, its own first, so that their number doubles (Bruck). In may be its part of Out.
func (s *Schedule) AllgatherSteps(p Place, n int) {
	s.reset()
	mem := s.work(n * p.Size)
	s.copy(mem, Mem{0, In}, n)
	for have := 1; have < p.Size; have *= 2 {
		more := n * min(have, p.Size-have)
		s.exchange(p.down(have), mem, more, p.up(have), mem.plus(have*n), more)
	}
	for i := range p.Size {
		s.copy(Mem{p.up(i) * n, Out}, mem.plus(i*n), n)
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
	s.own(p, from, to)
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
