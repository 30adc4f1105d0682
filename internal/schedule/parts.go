package schedule

// Parts says where the parts of the ranks lie in a buffer.
type Parts struct {
	Buf  Buf
	Each int // bytes of each part, if that is the same for all, and they lie one behind the other

	Counts, Displs []int // else, if not nil: of each part, in elements of Size bytes
	Elems          int   // else: so many elements of Size bytes are dealt among Ranks ranks
	Ranks          int
	Size           int
}

// Of gives the place of the part of rank i and its length in bytes.
func (p *Parts) Of(i int) (Mem, int) {
	switch {
	case p.Counts != nil:
		return Mem{p.Displs[i] * p.Size, p.Buf}, p.Counts[i] * p.Size
	case p.Ranks > 0:
		at := p.Elems * i / p.Ranks
		return Mem{at * p.Size, p.Buf}, (p.Elems*(i+1)/p.Ranks - at) * p.Size
	}
	return Mem{i * p.Each, p.Buf}, p.Each
}
