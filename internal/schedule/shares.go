package schedule

// Shares: each rank gets its share of the vectors of all ranks, and combines that in the order of doubling. Reductions
// of long vectors begin so.

// shareSlots is memory for the rank's part of all vectors, but its own, which stays where it is.
func (s *Schedule) shareSlots(p Place, in *Parts) Parts {
	_, n := in.partOf(p.Rank)
	return Parts{Buf: s.workBytes(n * p.Size).Buf, Each: n} // it is the first piece of Work
}

// shareOut gives the rank its part of In of all, which it combines into out. Its own part is in the way if out overlaps
// it without being the same place; it then moves to its slot.
func (s *Schedule) shareOut(p Place, in, slots *Parts, out Mem, inWay bool) {
	own, n := in.partOf(p.Rank)
	if inWay {
		at, _ := slots.partOf(p.Rank)
		s.copyBytes(at, own, n)
		own = at
	}
	s.swapParts(p, in, slots)
	s.fenceSteps()
	s.parts = s.parts[:0]
	for i := range p.Size {
		at, _ := slots.partOf(i)
		s.parts = append(s.parts, at)
	}
	s.parts[p.Rank] = own
	if p.Size == 1 {
		s.copyBytes(out, own, n)
	}
	s.combineAll(own, out, n)
}

// combineAll combines the parts of all ranks into out, in the order of doubling, so that the result is the same to the
// last bit. It may change them, but for own, which is one of them.
func (s *Schedule) combineAll(own, out Mem, n int) {
	parts := s.parts
	if n == 0 {
		return
	}
	power, extra := powerIn(len(parts))
	join := func(low, high Mem, last bool) Mem {
		to := high
		if last || high == own {
			to = out
		}
		s.combineSteps(to, low, high, n)
		return to
	}
	for i := range power {
		if i < extra {
			parts[i] = join(parts[2*i], parts[2*i+1], power == 1)
		} else {
			parts[i] = parts[i+extra]
		}
	}
	for k := 1; k < power; k *= 2 {
		for i := 0; i < power; i += 2 * k {
			parts[i] = join(parts[i], parts[i+k], 2*k == power)
		}
	}
}
