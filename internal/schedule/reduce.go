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

// ReduceTree combines In of all ranks into Out of root. What comes from below is combined with the rank's own vector,
// and passed up. inPlace says that In of root is Out.
func (s *Schedule) ReduceTree(p Place, root int, l Lengths, inPlace bool) {
	s.reset()
	b := p.branch(root)
	switch {
	case b.n == 0 && b.to < 0:
		if !inPlace {
			s.copy(Mem{0, Out}, Mem{0, In}, l.N)
		}
	case b.n == 0:
		s.sendUp(b.to, l)
	case l.N <= l.Whole:
		s.reduceWhole(&b, l.N)
	default:
		s.reduceSegments(&b, l)
	}
}

// sendUp sends all segments at once: their receiver asks for them one after the other.
func (s *Schedule) sendUp(to int, l Lengths) {
	for at := 0; ; at += l.Segment {
		n := min(l.Segment, l.N-at)
		x := s.send(to, Mem{at, In}, n)
		if at+n >= l.N {
			x.Last = true
			return
		}
	}
}

// reduceWhole is for a vector that is one short message.
func (s *Schedule) reduceWhole(b *branch, n int) {
	in, has, acc := s.work(n), Mem{0, In}, Mem{0, Out}
	if b.to >= 0 {
		acc = s.work(n)
	}
	for _, from := range b.from[:b.n] {
		s.recv(from.rank, in, n).Last = true
		s.fence()
		s.join(acc, has, in, n, from.lower)
		has = acc
	}
	if b.to >= 0 {
		s.send(b.to, acc, n).Last = true
	}
}

// reduceSegments receives each segment from each rank below, the next into one place while one from the other is
// combined.
func (s *Schedule) reduceSegments(b *branch, l Lengths) {
	in := [2]Mem{s.work(l.Segment), s.work(l.Segment)}
	acc := Mem{0, Out}
	if b.to >= 0 {
		acc = s.work(l.N)
	}
	steps := b.n * ((l.N + l.Segment - 1) / l.Segment)
	post := func(q int) int {
		at := q / b.n * l.Segment
		n := min(l.Segment, l.N-at)
		x := s.recv(b.from[q%b.n].rank, in[q%2], n)
		x.Last, x.Alone = at+n == l.N, true
		return len(s.Steps) - 1
	}
	came := post(0)
	for q := range steps {
		next := came
		if q+1 < steps {
			next = post(q + 1)
		}
		s.wait(came)
		came = next
		s.segment(b, l, q, in[q%2], acc)
	}
}

// segment combines what has come with the rank's own, and passes on what is complete.
func (s *Schedule) segment(b *branch, l Lengths, q int, in, acc Mem) {
	at := q / b.n * l.Segment
	n := min(l.Segment, l.N-at)
	has := acc.plus(at)
	if q%b.n == 0 {
		has = Mem{at, In}
	}
	s.join(acc.plus(at), has, in, n, b.from[q%b.n].lower)
	if q%b.n == b.n-1 && b.to >= 0 {
		s.send(b.to, acc.plus(at), n).Last = at+n == l.N
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
	mem := s.work(n * p.Size)
	s.parts = s.parts[:0]
	for i := range p.Size {
		s.parts = append(s.parts, mem.plus(i*n))
	}
	s.parts[p.Rank] = own
	for d := 1; d < p.Size; d++ {
		s.recv(p.down(d), s.parts[p.down(d)], n)
	}
	for d := 1; d < p.Size; d++ {
		at, n := in.Of(p.up(d))
		s.send(p.up(d), at, n)
	}
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
