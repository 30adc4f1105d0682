package schedule

// Barrier: in round k a rank tells the one 2^k further.
func (s *Schedule) Barrier(p Place) {
	s.resetSteps()
	for d := 1; d < p.Size; d *= 2 {
		s.exchangeParts(p.rankUp(d), Mem{}, 0, p.rankDown(d), Mem{}, 0)
	}
}
