package schedule

// Builders of parts of different lengths, and of alltoall in few messages.

// packed are parts of these lengths, one behind the other.
func packed(buf Buf, lens []int) (*Parts, int) {
	p := Packed(buf, lens, make([]int, len(lens)))
	at, n := p.partOf(len(lens) - 1)
	return &p, at.Off + n
}

// packedParts are what a rank sends and gets in an alltoallw: from i to j go (3i+5j)%40 bytes.
func (c call) packedParts(rank int) (from, to *Parts, out, in int) {
	give, get := make([]int, c.size), make([]int, c.size)
	for i := range c.size {
		give[i], get[i] = (3*rank+5*i)%40, (3*i+5*rank)%40
	}
	from, out = packed(In, give)
	to, in = packed(Out, get)
	return from, to, out, in
}

func (c call) sentPacked(rank int) []byte {
	from, _, room, _ := c.packedParts(rank)
	return c.lay(from, room, func(i, n int) []byte { return c.bytesOf(rank, i, n) })
}

func (c call) gotPacked(rank int) []byte {
	_, to, _, room := c.packedParts(rank)
	return c.lay(to, room, func(i, n int) []byte { return c.bytesOf(i, rank, n) })
}

func (c call) roomPacked(rank int) int { return len(c.gotPacked(rank)) }

var moversV = []algorithm{
	{
		"AllgathervSteps", func(c call, s *Schedule, p Place) { s.AllgathervSteps(p, c.parts(Out), c.inPlace) },
		contributionV, wholeV, ownPartV, allV,
	},
	{
		"AllgathervSteps of equal parts",
		func(c call, s *Schedule, p Place) { s.AllgathervSteps(p, c.even(Out), c.inPlace) },
		contribution, whole, ownPart, all,
	},
	{
		"AlltoallBruck", func(c call, s *Schedule, p Place) { s.AlltoallBruck(p, c.n) },
		toAll, whole, alwaysFirst, fromAll,
	},
	{
		"Alltoallw all at once",
		func(c call, s *Schedule, p Place) {
			from, to, _, _ := c.packedParts(p.Rank)
			s.AlltoallAll(p, from, to, 0)
		},
		call.sentPacked, call.roomPacked, never, call.gotPacked,
	},
	{
		"Alltoallw pairs",
		func(c call, s *Schedule, p Place) {
			from, to, _, _ := c.packedParts(p.Rank)
			s.AlltoallPairs(p, from, to, 0)
		},
		call.sentPacked, call.roomPacked, never, call.gotPacked,
	},
}
