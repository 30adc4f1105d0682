package schedule

// TreeV is Tree for parts of different lengths. All ranks know all lengths; those that do not, as in MPI_Gatherv, take
// Star. Root keeps the parts of others in Work, too.
func (s *Schedule) TreeV(p Place, r Rooted, parts *Parts) {
	s.reset()
	s.treeV(p, &r, parts)
}

func (s *Schedule) treeV(p Place, r *Rooted, parts *Parts) {
	me := p.from(r.Root)
	span := p.span(me)
	run := min(span, p.Size-me)
	s.around(p, p.Rank, run, parts)
	if r.Down {
		s.scatterTreeV(p, r, parts, me, span, run)
	} else {
		s.gatherTreeV(p, r, parts, me, span, run)
	}
}

// gatherTreeV has the rank's own part leave from where it lies.
func (s *Schedule) gatherTreeV(p Place, r *Rooted, parts *Parts, me, span, run int) {
	own, n := Mem{0, In}, s.ends[1]
	rest := s.work(s.ends[run] - n)
	for k := 1; k < run; k *= 2 {
		at := s.ends[k]
		s.recv(p.actual(me+k, r.Root), rest.plus(at-n), s.ends[min(2*k, run)]-at)
		s.fence()
	}
	if me > 0 {
		s.sendBoth(p.actual(me-span, r.Root), own, n, rest, s.ends[run]-n)
		return
	}
	if at, _ := parts.Of(p.Rank); !r.InPlace {
		s.copy(at, own, n)
	}
	s.deal(p, p.Rank, 1, run, parts, rest.plus(-n), true)
}

func (s *Schedule) scatterTreeV(p Place, r *Rooted, parts *Parts, me, span, run int) {
	all, own := Mem{0, Out}, Mem{0, Out}
	switch {
	case me == 0:
		own, _ = parts.Of(p.Rank)
		all = s.work(s.ends[run] - s.ends[1]).plus(-s.ends[1])
		s.deal(p, p.Rank, 1, run, parts, all, false)
	case run > 1:
		all = s.work(s.ends[run])
		own = all
	}
	if me > 0 {
		s.recv(p.actual(me-span, r.Root), all, s.ends[run])
		s.fence()
	}
	for k := span / 2; k > 0; k /= 2 {
		if k < run {
			at := s.ends[k]
			s.send(p.actual(me+k, r.Root), all.plus(at), s.ends[min(2*k, run)]-at)
		}
	}
	if !r.InPlace {
		s.copy(Mem{0, Out}, own, s.ends[1])
	}
}
