package schedule

import "math/bits"

// Vector halving: a vector has a piece for each number of recursive doubling. In the round of distance k two numbers
// that differ in that bit hold the same pieces, of which each keeps a half: the first half if its bit is 0. It gets
// the other one's content of that half. The distance is 1 first, so runs of neighbouring ranks are combined, as in
// doubling. In the end a number has one piece, that of its bits in reverse.

// halves is the place of a rank in vector halving. Piece i lies from ends[i] to ends[i+1] of a buffer.
type halves struct {
	me    int // number of the rank
	power int // how many numbers there are
	extra int // how many of them are pairs
}

// piecesOf are those that number me holds after the round of distance k; of distance 0: at the start.
func (h *halves) piecesOf(me, k int) (low, high int) {
	high = h.power
	for d := 1; d <= k; d *= 2 {
		half := (high - low) / 2
		if me&d != 0 {
			low += half
		} else {
			high -= half
		}
	}
	return low, high
}

// lastPiece is the piece that number me has in the end.
func (h *halves) lastPiece(me int) int {
	return int(bits.Reverse(uint(me)<<1) >> (bits.LeadingZeros(uint(h.power)) & 63))
}

// piecesBetween is the place of the pieces of number me after the round of distance k, in a buffer, and their length.
func (s *Schedule) piecesBetween(h *halves, me, k int, buf Mem) (Mem, int) {
	low, high := h.piecesOf(me, k)
	return buf.plusBytes(s.ends[low]), s.ends[high] - s.ends[low]
}

// tmpBytes is memory for what comes in halving; where the rank is of a pair, for all n bytes, too.
func (s *Schedule) tmpBytes(h *halves, paired bool, n int) Mem {
	if !paired {
		_, n = s.piecesBetween(h, h.me, 1, Mem{})
	}
	return s.workBytes(n)
}

// halveVector has the rank, whose vector lies at has, end with its piece of the result in acc, which may be has.
func (s *Schedule) halveVector(h *halves, has, acc, tmp Mem) {
	for k := 1; k < h.power; k *= 2 {
		give, ngive := s.piecesBetween(h, h.me^k, k, has)
		keep, n := s.piecesBetween(h, h.me, k, has)
		to, _ := s.piecesBetween(h, h.me, k, acc)
		peer := doubledRank(h.me^k, h.extra)
		s.exchangeParts(peer, give, ngive, peer, tmp, n)
		if n > 0 {
			s.joinVectors(to, keep, tmp, n, h.me&k != 0)
		}
		has = acc
	}
}
