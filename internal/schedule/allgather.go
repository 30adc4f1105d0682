package schedule

// AllgatherSteps gives all ranks the n bytes of In of each, in Out. In each step a rank sends all parts that it
// holds, its own first, so that their number doubles (Bruck). inPlace says that In is its part of Out.
func (s *Schedule) AllgatherSteps(p Place, n int, inPlace bool) {
	s.resetSteps()
	if !inPlace {
		s.copyBytes(Mem{p.Rank * n, Out}, Mem{0, In}, n)
	}
	for have := 1; have < p.Size; have *= 2 {
		more := n * min(have, p.Size-have)
		s.sendAround(p.rankDown(have), Mem{p.Rank * n, Out}, more, n*p.Size)
		s.recvAround(p.rankUp(have), Mem{p.rankUp(have) * n, Out}, more, n*p.Size)
	}
}

// AllgatherRing gives all ranks In of each in the parts, which go round a ring. inPlace says that the rank's own lie
// there already.
func (s *Schedule) AllgatherRing(p Place, parts *Parts, inPlace bool) {
	s.resetSteps()
	if own, n := parts.partOf(p.Rank); !inPlace {
		s.copyBytes(own, Mem{0, In}, n)
	}
	s.ringParts(p, Mem{0, In}, parts)
}

// ringParts gives every rank, which has its own part, all parts: each passes on to the right what came from the left.
// own is where its part lies.
func (s *Schedule) ringParts(p Place, own Mem, parts *Parts) {
	_, nout := parts.partOf(p.Rank)
	for d := 1; d < p.Size; d++ {
		in, nin := parts.partOf(p.rankDown(d))
		s.exchangeParts(p.rankUp(1), own, nout, p.rankDown(1), in, nin)
		own, nout = in, nin
	}
}

// AllgathervSteps is AllgatherSteps for parts of different lengths, whose lengths all ranks know. A rank keeps the
// parts in Work, its own first, and copies them to their places in the end.
func (s *Schedule) AllgathervSteps(p Place, parts *Parts, inPlace bool) {
	s.resetSteps()
	s.setEnds(p, p.Rank, p.Size, parts)
	ends := s.ends
	all := s.workBytes(ends[p.Size])
	own, n := parts.partOf(p.Rank)
	from := Mem{0, In}
	if inPlace {
		from = own
	}
	s.copyBytes(all, from, n)
	for have := 1; have < p.Size; have *= 2 {
		more := min(have, p.Size-have)
		at := ends[have]
		s.exchangeParts(p.rankDown(have), all, ends[more], p.rankUp(have), all.plusBytes(at), ends[have+more]-at)
	}
	first := 0
	if inPlace {
		first = 1
	}
	s.dealParts(p, p.Rank, first, p.Size, parts, all, true)
}
