package schedule

// The order in which a scan combines depends on the rank whose result it is, and on nothing else: rank i has the run of
// 2^k ranks that ends with it after round k, made of two runs of half that length, or all of the ranks up to it.

// Scan combines In of all ranks up to the rank's own into its Out. In round k a rank tells its result so far to the one
// 2^k further. In may be Out: inPlace.
func (s *Schedule) Scan(p Place, l Lengths, inPlace bool) {
	s.resetSteps()
	has := Mem{0, In}
	if inPlace {
		has = Mem{0, Out}
	}
	s.scanFrom(p, 0, l, has)
}

// Exscan combines In of all ranks below the rank's own into its Out, which rank 0 leaves as it is. Each vector moves on
// by one rank before the scan. So the result is that of Scan one rank before, bit for bit. In may be Out: inPlace.
func (s *Schedule) Exscan(p Place, l Lengths, inPlace bool) {
	s.resetSteps()
	if p.Rank+1 < p.Size {
		s.sendStep(p.Rank+1, Mem{0, In}, l.N)
	}
	if p.Rank == 0 {
		return
	}
	out, to := Mem{0, Out}, Mem{0, Out}
	if inPlace && p.Rank+1 < p.Size {
		to = s.workBytes(l.N)
	}
	s.recvStep(p.Rank-1, to, l.N)
	s.fenceSteps()
	s.copyBytes(out, to, l.N)
	s.scanFrom(Place{p.Rank - 1, p.Size - 1}, 1, l, out)
}

// scanFrom makes the ranks from first on scan what lies at has into Out, which may be has. The exchange of one of
// several segments goes on while the one before is combined.
func (s *Schedule) scanFrom(p Place, first int, l Lengths, has Mem) {
	out := Mem{0, Out}
	if p.Rank == 0 {
		s.copyBytes(out, has, l.N)
	}
	ahead := 0
	var in [2]Mem
	if p.Rank > 0 {
		in[0] = s.workBytes(min(l.Segment, l.N))
	}
	if in[1] = in[0]; l.N > l.Segment {
		ahead = 1
		if p.Rank > 0 {
			in[1] = s.workBytes(l.Segment)
		}
	}
	segments := l.segments()
	steps := segments * roundsFor(p.Size)
	var posted int
	var came [2]int
	for q := range steps {
		for ; posted < min(q+1+ahead, steps); posted++ {
			s.passSegment(p, first, 1<<(posted/segments), l, posted%segments, has, in[posted%2])
			came[posted%2] = len(s.Steps) - 1
		}
		s.waitStep(came[q%2])
		if d := 1 << (q / segments); p.Rank >= d {
			at := q % segments * l.Segment
			own := out
			if d == 1 {
				own = has
			}
			s.joinVectors(out.plusBytes(at), own.plusBytes(at), in[q%2], min(l.Segment, l.N-at), true)
		}
	}
}

// passSegment exchanges segment i with the ranks at distance d.
func (s *Schedule) passSegment(p Place, first, d int, l Lengths, i int, has, in Mem) {
	at := i * l.Segment
	n := min(l.Segment, l.N-at)
	last := at+n == l.N
	if d > 1 && p.Rank > 0 {
		has = Mem{0, Out}
	}
	if p.Rank+d < p.Size {
		s.sendStep(first+p.Rank+d, has.plusBytes(at), n).Last = last
	}
	if p.Rank >= d {
		x := s.recvStep(first+p.Rank-d, in, n)
		x.Last, x.Alone = last, l.N > l.Segment
	}
}
