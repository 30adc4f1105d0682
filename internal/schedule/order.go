package schedule

import "math/bits"

// The order in which reductions combine. It depends on the number of ranks only, so equal vectors give equal results,
// bit for bit, whatever the algorithm, the root and the length. The ranks that are too many for a power of two combine
// in pairs: 0 with 1, 2 with 3. The pairs and the ranks behind them then have numbers. Runs of numbers combine with
// their neighbours, and double in length: 0 with 1, 0 and 1 with 2 and 3. What is of lower ranks comes first.

// below is a rank from which a rank gets the result of a run of ranks, which are lower than its own or higher.
type below struct {
	rank  int
	lower bool
}

// branch is the place of a rank in the tree of a reduction.
type branch struct {
	from [64]below // more than there can be steps
	n    int       // of from in use
	to   int       // who gets the result, or -1
}

func (b *branch) addRank(rank int, lower bool) {
	b.from[b.n] = below{rank, lower}
	b.n++
}

// powerIn is the largest power of two up to n, and extra what is left.
func powerIn(n int) (power, extra int) {
	power = 1
	for power*2 <= n {
		power *= 2
	}
	return power, n - power
}

// doubledRank gives the rank with number me in recursive doubling, where the first 2*extra ranks are in pairs.
func doubledRank(me, extra int) int {
	if me < extra {
		return 2*me + 1
	}
	return me + extra
}

// numberIn is the rank's number in recursive doubling, where the first 2*extra ranks are in pairs.
func (p Place) numberIn(extra int) int { return max(p.Rank/2, p.Rank-extra) }

// sitsOut reports whether the rank is the first of a pair, which leaves the rounds to the second.
func (p Place) sitsOut(extra int) bool { return p.Rank < 2*extra && p.Rank%2 == 0 }

// sitOut gives n bytes of In to the second of the pair, and gets a result of got bytes from there. In may be Out.
func (s *Schedule) sitOut(p Place, n, got int) {
	s.sendStep(p.Rank+1, Mem{0, In}, n)
	s.fenceSteps()
	s.recvStep(p.Rank+1, Mem{0, Out}, got)
}

// branchOf finds the place of the rank. The tree combines the same runs of ranks whatever root is, and the same as
// recursive doubling does: first those that are too many for a power of two, in pairs, then runs that are twice as
// long in each step. Of two runs the rank that holds the result of one gets that of the other: root, or else that of
// the lower run.
func (p Place) branchOf(root int) (b branch) {
	b.to = -1
	power, extra := powerIn(p.Size)
	if p.Rank < 2*extra {
		holder := p.Rank | 1
		if root/2 == p.Rank/2 {
			holder = root
		}
		if p.Rank != holder {
			b.to = holder
			return b
		}
		b.addRank(p.Rank^1, p.Rank&1 == 1)
	}
	me, top := p.numberIn(extra), Place{root, p.Size}.numberIn(extra)
	for k := 1; k < power; k *= 2 {
		first := me &^ (k - 1) // of my run
		other := first ^ k     // of the other one
		low := min(first, other)
		holder := func(run int) int {
			if run == top&^(k-1) {
				return root
			}
			return doubledRank(run, extra)
		}
		if top&^(2*k-1) != low && first != low || top&^(k-1) == other {
			b.to = holder(other)
			return b
		}
		b.addRank(holder(other), other == low)
	}
	return b
}

// joinVectors combines what the rank has with what has come, of lower ranks or of higher ones.
func (s *Schedule) joinVectors(to, has, came Mem, n int, lower bool) {
	if lower {
		has, came = came, has
	}
	s.combineSteps(to, has, came, n)
}

// Order is the order of reductions for those who combine the vectors of all ranks themselves: Numbers is a power of
// two, and runs of numbers combine with their neighbours. Depth is its logarithm.
type Order struct {
	Numbers, Depth int
	extra          int
}

// OrderOf is the order among so many ranks.
func OrderOf(ranks int) Order {
	power, extra := powerIn(ranks)
	return Order{Numbers: power, Depth: bits.TrailingZeros(uint(power)), extra: extra}
}

// Ranks gives the ranks that make up a number: a pair that combines first, or the same rank twice.
func (o Order) Ranks(number int) (low, high int) {
	high = doubledRank(number, o.extra)
	if number < o.extra {
		return high - 1, high
	}
	return high, high
}
