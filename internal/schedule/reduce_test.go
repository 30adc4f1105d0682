package schedule

// The builders that combine.

func elements(c call, rank int) []byte { return c.kind.vector(rank, c.elems) }

func vector(c call, _ int) int { return c.vector() }

func reduced(c call, _ int) []byte { return c.kind.reduced(0, c.size, c.elems) }

// sharedOut is the bytes of Out of a reduce-scatter: in place it has the vector, and the result at its beginning.
func sharedOut(c call, rank int) int {
	if c.inPlace {
		return c.vector()
	}
	return c.blocks[rank]
}

func reducedPart(c call, rank int) []byte {
	return reduced(c, rank)[c.starts[rank]:][:c.blocks[rank]]
}

func (c call) vectorParts(buf Buf) *Parts {
	return &Parts{Buf: buf, Counts: c.blocks, Displs: c.starts, Size: 1}
}

// orLeft is what a rank gets in an exscan; rank 0 gets nothing, and keeps what it has.
func orLeft(f func(c call, rank int) []byte) func(c call, rank int) []byte {
	return func(c call, rank int) []byte {
		if rank > 0 {
			return f(c, rank-1)
		}
		left := make([]byte, c.vector())
		for i := range left {
			left[i] = 0xee
		}
		if c.inPlace {
			left = elements(c, 0)
		}
		return left
	}
}

func scanned(c call, rank int) []byte { return c.kind.scanned(rank, c.elems) }

var reducers = []algorithm{
	{
		"ReduceTree", func(c call, s *Schedule, p Place) {
			s.ReduceTree(p, c.root, c.lengths(), c.inPlace && p.Rank == c.root)
		},
		elements, forRoot(vector), atRoot(zero), rooted(reduced),
	},
	{
		"AllreduceDoubling", func(c call, s *Schedule, p Place) { s.AllreduceDoubling(p, c.vector(), c.inPlace) },
		elements, vector, zero, reduced,
	},
	{
		"AllreduceShares", func(c call, s *Schedule, p Place) { s.AllreduceShares(p, c.elems, elemSize) },
		elements, vector, zero, reduced,
	},
	{
		"ReduceScatterShares",
		func(c call, s *Schedule, p Place) { s.ReduceScatterShares(p, c.vectorParts(In), c.inPlace) },
		elements, sharedOut, zero, reducedPart,
	},
	{
		"ReduceScatterHalving",
		func(c call, s *Schedule, p Place) { s.ReduceScatterHalving(p, c.vectorParts(In), c.inPlace) },
		elements, sharedOut, zero, reducedPart,
	},
	{
		"Scan", func(c call, s *Schedule, p Place) { s.Scan(p, c.lengths(), c.inPlace) },
		elements, vector, zero, scanned,
	},
	{
		"Exscan", func(c call, s *Schedule, p Place) { s.Exscan(p, c.lengths(), c.inPlace) },
		elements, vector, zero, orLeft(scanned),
	},
}
