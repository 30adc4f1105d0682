package schedule

// AlltoallAll sends part i of from of each rank to rank i, and receives what that sends into part i of to: all at once.
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

// AlltoallBruck sends part i of In of each rank to rank i, which gets its part of all in Out. All parts have n bytes.
// Part j of Work is for the rank j further. In round k a rank sends on all parts whose number has bit k, in one
// message, to the rank 2^k further. So each part moves by its number. In may be Out.
func (s *Schedule) AlltoallBruck(p Place, n int) {
	s.reset()
	all, tail := s.work(n*p.Size), n*(p.Size-p.Rank)
	s.copy(all, Mem{n * p.Rank, In}, tail)
	s.copy(all.plus(tail), Mem{0, In}, n*p.Rank)
	most := n * marked(p.Size, 1)
	out, in := s.work(most), s.work(most)
	for k := 1; k < p.Size; k *= 2 {
		n := n * marked(p.Size, k)
		s.collect(p, k, all, out, n, true)
		s.exchange(p.up(k), out, n, p.down(k), in, n)
		s.collect(p, k, all, in, n, false)
	}
	for j := range p.Size {
		s.copy(Mem{n * p.down(j), Out}, all.plus(n*j), n)
	}
}

// marked is how many of the numbers below size have the bit k.
func marked(size, k int) int { return size/(2*k)*k + max(size%(2*k)-k, 0) }

// collect copies the parts whose number has the bit k to one piece of Work of whole bytes, or back.
func (s *Schedule) collect(p Place, k int, all, piece Mem, whole int, there bool) {
	if whole == 0 {
		return
	}
	each := whole / marked(p.Size, k)
	for j := k; j < p.Size; j += 2 * k {
		at, n := all.plus(each*j), each*min(k, p.Size-j)
		if there {
			s.copy(piece, at, n)
		} else {
			s.copy(at, piece, n)
		}
		piece = piece.plus(n)
	}
}
