package schedule

// Parts of a run of ranks, going round, one behind the other in Work: of part 0 of the run is that of rank first.

// setEnds sets ends: the first i of n parts have ends[i] bytes together.
func (s *Schedule) setEnds(p Place, first, n int, parts *Parts) {
	s.ends = append(s.ends[:0], 0)
	for i := range n {
		_, more := parts.partOf((first + i) % p.Size)
		s.ends = append(s.ends, s.ends[i]+more)
	}
}

// dealParts copies parts low to high of the run from there to their places, if out, or from their places. Parts that
// lie one behind the other are one copy.
func (s *Schedule) dealParts(p Place, first, low, high int, parts *Parts, at Mem, out bool) {
	var place Mem
	n := 0
	flush := func(i int) {
		in := at.plusBytes(s.ends[i] - n)
		if out {
			s.copyBytes(place, in, n)
		} else {
			s.copyBytes(in, place, n)
		}
	}
	for i := low; i < high; i++ {
		next, more := parts.partOf((first + i) % p.Size)
		switch {
		case more == 0:
			continue
		case n > 0 && next == place.plusBytes(n):
			n += more
			continue
		}
		flush(i)
		place, n = next, more
	}
	flush(high)
}
