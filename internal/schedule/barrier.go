package schedule

// Barrier: in round k a rank tells the one 2^k further.
func (s *Schedule) Barrier(p Place) {
	s.reset()
	for d := 1; d < p.Size; d *= 2 {
		s.exchange(p.up(d), Mem{}, 0, p.down(d), Mem{}, 0)
	}
}
