package schedule

// The forms among two groups: ranks below c.first are of the first one. With one rank there is nothing to try.

// inter is the place of a rank.
func (c call) inter(rank int) Inter {
	if rank < c.first {
		return Inter{Place{rank, c.first}, c.size - c.first}
	}
	return Inter{Place{rank - c.first, c.size - c.first}, c.first}
}

// peer is the rank that a step's peer stands for.
func (c call) peer(rank, i int) int {
	switch x := c.inter(rank); {
	case rank < c.first:
		return i
	case i < x.Size:
		return c.first + i
	default:
		return i - x.Size
	}
}

// rootOf is what a rank gives as root.
func (c call) rootOf(rank int) int {
	switch {
	case rank == c.root:
		return RootHere
	case (rank < c.first) == (c.root < c.first):
		return NoPart
	}
	return c.inter(c.root).Rank
}

// group is the ranks of the other group than that of rank.
func (c call) group(rank int) (first, end int) {
	if rank < c.first {
		return c.first, c.size
	}
	return 0, c.first
}

// among makes a builder of one for two groups.
func among(f func(c call, s *Schedule, x Inter, root int)) func(c call, s *Schedule, p Place) {
	return func(c call, s *Schedule, p Place) {
		if s.resetSteps(); c.size > 1 {
			f(c, s, c.inter(p.Rank), c.rootOf(p.Rank))
		}
	}
}

// some is want where there are two groups.
func some(f func(c call, rank int) []byte) func(c call, rank int) []byte {
	return func(c call, rank int) []byte {
		if c.size == 1 {
			return nil
		}
		return f(c, rank)
	}
}

// atLeaf is what ranks of root's other group get.
func atLeaf(f func(c call, rank int) []byte) func(c call, rank int) []byte {
	return some(func(c call, rank int) []byte {
		if c.rootOf(rank) < 0 {
			return nil
		}
		return f(c, rank)
	})
}

// far is the parts of the other group, packed, as lens gives them, and how many bytes they are.
func (c call) far(rank int, buf Buf, lens func(rank int) int) (*Parts, int) {
	first, end := c.group(rank)
	var all []int
	for r := first; r < end; r++ {
		all = append(all, lens(r))
	}
	return packed(buf, append(all, 0))
}

func (c call) count(rank int) int { return c.counts[rank] }

// gappy has a gap of 2 bytes behind each part.
func (c call) gappy(rank int) (*Parts, int) {
	p, n := c.far(rank, Out, c.count)
	for i := range p.Displs {
		p.Displs[i] += 2 * i
	}
	return p, n + 2*len(p.Displs)
}

// got is what a rank gets of each of the other group: n bytes of what that has for it.
func (c call) got(rank int, n func(from int) int, forOne bool) (b []byte) {
	first, end := c.group(rank)
	for r := first; r < end; r++ {
		to := 0
		if forOne {
			to = rank
		}
		b = append(b, c.bytesOf(r, to, n(r))...)
	}
	return b
}

// given is what a rank has for each of the other group.
func (c call) given(rank int, n func(to int) int) (b []byte) {
	first, end := c.group(rank)
	for r := first; r < end; r++ {
		b = append(b, c.bytesOf(rank, r, n(r))...)
	}
	return b
}

// each is the bytes of each rank of a group: more in the second one.
func (c call) each(rank int) int {
	if rank < c.first || c.plain {
		return c.n
	}
	return c.n + 3
}

// pairOf is how many bytes a rank has for another one.
func (c call) pairOf(from, to int) int {
	if c.plain {
		return c.n
	}
	return (3*from + 5*to) % 29
}

// dealt are the parts of a vector among the ranks of a rank's own group.
func (c call) dealt(rank int) *Parts {
	return &Parts{Buf: Out, Elems: c.elems, Ranks: c.inter(rank).Size, Size: elemSize}
}

func (c call) otherReduced(rank int) []byte {
	first, end := c.group(rank)
	return c.kind.reduced(first, end, c.elems)
}

var betweenGroups = []algorithm{
	{
		"InterBarrier", among(func(_ call, s *Schedule, x Inter, _ int) { s.InterBarrier(x) }),
		nothing, zero, never, nil,
	},
	{
		"InterBcast", among(func(c call, s *Schedule, x Inter, root int) { s.InterBcast(x, root, c.n) }),
		bcastRoot, length, atRoot(zero), atLeaf(func(c call, _ int) []byte { return contribution(c, c.root) }),
	},
	{
		"InterReduce", among(func(c call, s *Schedule, x Inter, root int) { s.InterReduce(x, root, c.lengths()) }),
		elements, forRoot(vector), never, rooted(some(call.otherReduced)),
	},
	{
		"InterAllreduce", among(func(c call, s *Schedule, x Inter, _ int) { s.InterAllreduce(x, c.lengths()) }),
		elements, vector, never, some(call.otherReduced),
	},
	{
		"InterReduceScatter", func(c call, s *Schedule, p Place) {
			if s.resetSteps(); c.size > 1 {
				s.InterReduceScatter(c.inter(p.Rank), c.lengths(), c.dealt(p.Rank))
			}
		},
		elements, vector, never, some(func(c call, rank int) []byte {
			at, n := c.dealt(rank).partOf(c.inter(rank).Rank)
			return c.otherReduced(rank)[at.Off:][:n]
		}),
	},
	{
		"InterAllgather", func(c call, s *Schedule, p Place) {
			if s.resetSteps(); c.size > 1 {
				first, _ := c.group(p.Rank)
				s.InterAllgather(c.inter(p.Rank), c.each(p.Rank), c.each(first))
			}
		},
		func(c call, rank int) []byte { return c.bytesOf(rank, 0, c.each(rank)) },
		func(c call, rank int) int { return len(c.got(rank, c.each, false)) }, never,
		some(func(c call, rank int) []byte { return c.got(rank, c.each, false) }),
	},
	{
		"InterAllgatherv", func(c call, s *Schedule, p Place) {
			if s.resetSteps(); c.size > 1 {
				parts, _ := c.gappy(p.Rank)
				s.InterAllgatherv(c.inter(p.Rank), c.counts[p.Rank], parts)
			}
		},
		contributionV, func(c call, rank int) int { _, room := c.gappy(rank); return room }, never,
		some(func(c call, rank int) (b []byte) {
			first, end := c.group(rank)
			for r := first; r < end; r++ {
				b = append(append(b, contributionV(c, r)...), 0xee, 0xee)
			}
			return b
		}),
	},
	{
		"InterGather", func(c call, s *Schedule, p Place) {
			if s.resetSteps(); c.size > 1 {
				parts, _ := c.far(p.Rank, Out, c.count)
				s.InterGather(c.inter(p.Rank), c.rootOf(p.Rank), c.counts[p.Rank], parts)
			}
		},
		contributionV, func(c call, rank int) int { _, room := c.far(rank, Out, c.count); return room }, never,
		rooted(some(func(c call, rank int) []byte { return c.got(rank, c.count, false) })),
	},
	{
		"InterScatter", func(c call, s *Schedule, p Place) {
			if s.resetSteps(); c.size > 1 {
				parts, _ := c.far(p.Rank, In, c.count)
				s.InterScatter(c.inter(p.Rank), c.rootOf(p.Rank), c.counts[p.Rank], parts)
			}
		},
		func(c call, rank int) []byte { return c.given(rank, c.count) }, func(c call, rank int) int { return c.counts[rank] },
		never, atLeaf(func(c call, rank int) []byte { return c.bytesOf(c.root, rank, c.counts[rank]) }),
	},
	{
		"InterAlltoall", func(c call, s *Schedule, p Place) {
			if s.resetSteps(); c.size > 1 {
				from, _ := c.far(p.Rank, In, func(to int) int { return c.pairOf(p.Rank, to) })
				to, _ := c.far(p.Rank, Out, func(from int) int { return c.pairOf(from, p.Rank) })
				s.InterAlltoall(c.inter(p.Rank), from, to)
			}
		},
		func(c call, rank int) []byte { return c.given(rank, func(to int) int { return c.pairOf(rank, to) }) },
		func(c call, rank int) int {
			return len(c.got(rank, func(from int) int { return c.pairOf(from, rank) }, true))
		},
		never,
		some(func(c call, rank int) []byte {
			return c.got(rank, func(from int) int { return c.pairOf(from, rank) }, true)
		}),
	},
}
