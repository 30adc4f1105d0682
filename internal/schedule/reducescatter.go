package schedule

// The parts of a reduce-scatter lie in In, one behind the other from its beginning, one for each rank. Rank i gets part
// i of the result, at the beginning of Out. In may be Out: inPlace. All ranks know all lengths.

// ReduceScatterShares gives each rank its part of all vectors, which it combines.
func (s *Schedule) ReduceScatterShares(p Place, parts *Parts, inPlace bool) {
	s.resetSteps()
	slots := s.shareSlots(p, parts)
	s.shareOut(p, parts, &slots, Mem{0, Out}, inPlace && p.Rank > 0)
}

// ReduceScatterHalving has the ranks halve vectors until each number has the part of its rank, or the parts of its
// pair. The parts are in Work, in the order in which they end there.
func (s *Schedule) ReduceScatterHalving(p Place, parts *Parts, inPlace bool) {
	s.resetSteps()
	own, n := parts.partOf(p.Rank)
	if p.Size == 1 {
		if !inPlace {
			s.copyBytes(Mem{0, Out}, own, n)
		}
		return
	}
	end, whole := parts.partOf(p.Size - 1)
	whole += end.Off
	power, extra := powerIn(p.Size)
	if p.sitsOut(extra) {
		s.sitOut(p, whole, n)
		return
	}
	h := halves{me: p.numberIn(extra), power: power, extra: extra}
	s.reverseEnds(&h, parts)
	paired := p.Rank < 2*extra
	acc, tmp := s.workBytes(whole), s.tmpBytes(&h, paired, whole)
	if paired {
		s.recvStep(p.Rank-1, tmp, whole)
		s.fenceSteps()
	}
	for i := range power {
		at, len := h.blockAt(i, parts)
		switch to := acc.plusBytes(s.ends[i]); {
		case len == 0:
		case paired:
			s.combineSteps(to, tmp.plusBytes(at.Off), at, len)
		default:
			s.copyBytes(to, at, len)
		}
	}
	s.halveVector(&h, acc, acc, tmp)
	mine, len := s.piecesBetween(&h, h.me, power/2, acc)
	if paired {
		s.sendStep(p.Rank-1, mine, len-n)
	}
	s.copyBytes(Mem{0, Out}, mine.plusBytes(len-n), n)
}

// blockAt is the piece i of a vector, where it lies in parts. It is the part of the rank that ends with it, or the
// parts of its pair, which are neighbours.
func (h *halves) blockAt(i int, parts *Parts) (Mem, int) {
	number := h.lastPiece(i) // to reverse is its own inverse
	last := doubledRank(number, h.extra)
	at, n := parts.partOf(last)
	if number < h.extra {
		first, more := parts.partOf(last - 1)
		return first, n + more
	}
	return at, n
}

// reverseEnds sets the ends of the pieces.
func (s *Schedule) reverseEnds(h *halves, parts *Parts) {
	s.ends = append(s.ends[:0], 0)
	for i := range h.power {
		_, n := h.blockAt(i, parts)
		s.ends = append(s.ends, s.ends[i]+n)
	}
}
