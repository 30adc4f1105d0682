package schedule

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

func (b *branch) add(rank int, lower bool) {
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

// doubled gives the rank with number me in recursive doubling, where the first 2*extra ranks are in pairs.
func doubled(me, extra int) int {
	if me < extra {
		return 2*me + 1
	}
	return me + extra
}

// branch finds the place of the rank. The tree combines the same runs of ranks whatever root is, and the same as
// recursive doubling does: first those that are too many for a power of two, in pairs, then runs that are twice as
// long in each step. Of two runs the rank that holds the result of one gets that of the other: root, or else that of
// the lower run.
func (p Place) branch(root int) (b branch) {
	b.to = -1
	power, extra := powerIn(p.Size)
	number := func(rank int) int { return max(rank/2, rank-extra) } // in the steps
	if p.Rank < 2*extra {
		holder := p.Rank | 1
		if root/2 == p.Rank/2 {
			holder = root
		}
		if p.Rank != holder {
			b.to = holder
			return b
		}
		b.add(p.Rank^1, p.Rank&1 == 1)
	}
	me, top := number(p.Rank), number(root)
	for k := 1; k < power; k *= 2 {
		first := me &^ (k - 1) // of my run
		other := first ^ k     // of the other one
		low := min(first, other)
		holder := func(run int) int {
			if run == top&^(k-1) {
				return root
			}
			return doubled(run, extra)
		}
		if top&^(2*k-1) != low && first != low || top&^(k-1) == other {
			b.to = holder(other)
			return b
		}
		b.add(holder(other), other == low)
	}
	return b
}

// join combines what the rank has with what has come, of lower ranks or of higher ones.
func (s *Schedule) join(to, has, came Mem, n int, lower bool) {
	if lower {
		has, came = came, has
	}
	s.combine(to, has, came, n)
}

// Lengths of a reduction, in bytes.
type Lengths struct {
	N       int // of the vector
	Whole   int // up to which it is one message that is received when it is wanted; at most Segment
	Segment int // of a message of a longer one
}

func (l Lengths) segments() int {
	if l.N <= l.Segment {
		return 1
	}
	return (l.N + l.Segment - 1) / l.Segment
}

// ReduceTree combines In of all ranks into Out of root. What comes from below is combined with the rank's own vector,
// and passed up. inPlace says that In of root is Out.
func (s *Schedule) ReduceTree(p Place, root int, l Lengths, inPlace bool) {
	s.reset()
	b := p.branch(root)
	acc := Mem{0, Out}
	switch {
	case b.n > 0 && b.to >= 0:
		acc = s.work(l.N)
	case b.n == 0 && b.to >= 0:
		acc = Mem{0, In}
	case b.n == 0 && !inPlace:
		s.copy(acc, Mem{0, In}, l.N)
	}
	if b.n > 0 {
		s.reduceSegments(&b, l, acc)
		return
	}
	for i := 0; b.to >= 0 && i < l.segments(); i++ { // their receiver asks for one after the other
		s.sendUp(&b, l, i*l.Segment, acc)
	}
}

// sendUp sends the segment at that offset.
func (s *Schedule) sendUp(b *branch, l Lengths, at int, acc Mem) {
	n := min(l.Segment, l.N-at)
	s.send(b.to, acc.plus(at), n).Last = at+n == l.N
}

// reduceSegments receives each segment from each rank below. One of several is received, into another place, while the
// one before is combined.
func (s *Schedule) reduceSegments(b *branch, l Lengths, acc Mem) {
	ahead := 0
	in := [2]Mem{s.work(min(l.Segment, l.N))}
	if in[1] = in[0]; l.N > l.Whole {
		ahead, in[1] = 1, s.work(l.Segment)
	}
	steps := b.n * l.segments()
	var came [2]int
	posted := 0
	for q := range steps {
		for ; posted < min(q+1+ahead, steps); posted++ {
			at := posted / b.n * l.Segment
			x := s.recv(b.from[posted%b.n].rank, in[posted%2], min(l.Segment, l.N-at))
			x.Last, x.Alone = at+x.Len == l.N, ahead > 0
			came[posted%2] = len(s.Steps) - 1
		}
		s.wait(came[q%2])
		s.segment(b, l, q, in[q%2], acc)
	}
}

// segment combines what has come with the rank's own, and passes on what is complete.
func (s *Schedule) segment(b *branch, l Lengths, q int, in, acc Mem) {
	at := q / b.n * l.Segment
	has := acc.plus(at)
	if q%b.n == 0 {
		has = Mem{at, In}
	}
	s.join(acc.plus(at), has, in, min(l.Segment, l.N-at), b.from[q%b.n].lower)
	if q%b.n == b.n-1 && b.to >= 0 {
		s.sendUp(b, l, at, acc)
	}
}

// AllreduceDoubling combines the n bytes of In of all ranks into Out of all. In each round a rank swaps results with
// the one whose number differs in one bit. After round k both have the result of a run of 2^(k+1) ranks. If
// the ranks are no power of two, the first ones pair up before, and one of each pair sits the rounds out. Lower ranks
// always come first. In may be Out: inPlace.
//
// What has been combined lies in Out, and before that in In. There is no copy of it: lines that a peer has read are
// slow to write.
func (s *Schedule) AllreduceDoubling(p Place, n int, inPlace bool) {
	s.reset()
	if p.Size == 1 {
		if !inPlace {
			s.copy(Mem{0, Out}, Mem{0, In}, n)
		}
		return
	}
	power, extra := powerIn(p.Size)
	tmp, has, me := s.work(n), Mem{0, In}, p.Rank-extra
	if paired := p.Rank < 2*extra; paired && p.Rank%2 == 0 {
		s.send(p.Rank+1, has, n)
		s.fence()
		s.recv(p.Rank+1, Mem{0, Out}, n)
		return
	} else if paired {
		s.recv(p.Rank-1, tmp, n)
		s.fence()
		s.join(Mem{0, Out}, has, tmp, n, true)
		has, me = Mem{0, Out}, p.Rank/2
	}
	for k := 1; k < power; k *= 2 {
		peer := doubled(me^k, extra)
		s.exchange(peer, has, n, peer, tmp, n)
		s.join(Mem{0, Out}, has, tmp, n, me&k != 0)
		has = Mem{0, Out}
	}
	if p.Rank < 2*extra {
		s.send(p.Rank-1, Mem{0, Out}, n)
	}
}

// AllreduceShares combines elems elements of size bytes of In of all ranks into Out of all, where the order does not
// matter: each rank gets its share of all vectors and combines that, and then the shares go round a ring. In may be
// Out.
func (s *Schedule) AllreduceShares(p Place, elems, size int) {
	s.reset()
	in := Parts{Buf: In, Elems: elems, Ranks: p.Size, Size: size}
	out := in
	out.Buf = Out
	own, n := in.Of(p.Rank)
	all := Parts{Buf: s.work(n * p.Size).Buf, Each: n}
	s.parts = s.parts[:0]
	for i := range p.Size {
		at, _ := all.Of(i)
		s.parts = append(s.parts, at)
	}
	s.parts[p.Rank] = own
	s.swap(p, &in, &all)
	s.fence()
	mine, _ := out.Of(p.Rank)
	s.combineAll(own, mine, n)
	s.ring(p, mine, &out)
}

// combineAll combines the parts of all ranks into out, in the order of doubling, so that the result is the same to the
// last bit. It may change them, but for own, which is one of them.
func (s *Schedule) combineAll(own, out Mem, n int) {
	parts := s.parts
	power, extra := powerIn(len(parts))
	join := func(low, high Mem, last bool) Mem {
		to := high
		if last || high == own {
			to = out
		}
		s.combine(to, low, high, n)
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
