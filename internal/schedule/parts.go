package schedule

// Parts says where the parts of the ranks lie in a buffer.
type Parts struct {
	Buf  Buf
	Each int  // bytes of each part, if that is the same for all, and they lie one behind the other
	One  bool // then: they do not, but all are the same bytes

	Counts, Displs []int // else, if not nil: of each part, in elements of Size bytes
	Elems          int   // else: so many elements of Size bytes are dealt among Ranks ranks
	Ranks          int
	Size           int
}

// partOf gives the place of the part of rank i and its length in bytes.
func (p *Parts) partOf(i int) (Mem, int) {
	switch {
	case p.Counts != nil:
		return Mem{p.Displs[i] * p.Size, p.Buf}, p.Counts[i] * p.Size
	case p.Ranks > 0:
		at := p.Elems * i / p.Ranks
		return Mem{at * p.Size, p.Buf}, (p.Elems*(i+1)/p.Ranks - at) * p.Size
	case p.One:
		i = 0
	}
	return Mem{i * p.Each, p.Buf}, p.Each
}

// Packed gives parts of these lengths in bytes, one behind the other: those of an alltoallw, whose parts differ in
// type, or of any call by its packed bytes. It sets displs, which are as many.
func Packed(buf Buf, lens, displs []int) Parts {
	at := 0
	for i, n := range lens {
		displs[i] = at
		at += n
	}
	return Parts{Buf: buf, Counts: lens, Displs: displs, Size: 1}
}
