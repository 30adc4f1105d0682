package space

// builder makes a space of rows that come in order of their beginnings and may overlap or touch.
type builder struct {
	dim  int
	list []Row
	over bool // there were too many
}

func (b *builder) addRow(r Row) {
	if r.N == 0 || b.over {
		return
	}
	last := b.dim - 1
	if k := len(b.list) - 1; k >= 0 {
		prev := &b.list[k]
		if prev.Lo.sameRow(r.Lo, last) && r.Lo[last] <= prev.Lo[last]+prev.N {
			prev.N = max(prev.N, r.Lo[last]+r.N-prev.Lo[last])
			return
		}
	}
	if len(b.list) == MaxRows {
		b.over = true
		return
	}
	b.list = append(b.list, r)
}

// space is a rectangle if the rows make one.
func (b *builder) space() Space {
	if b.over {
		return bad("more than %d rows", MaxRows)
	}
	if len(b.list) == 0 {
		return Space{dim: int8(b.dim - 1)}
	}
	s := Space{dim: int8(b.dim - 1), sparse: &rows{list: b.list}}
	s.bound()
	if d := rect(b.dim, s.lo, s.hi); d.err == nil && d.Count() == s.sparse.count {
		return d
	}
	s.sparse.list = append([]Row(nil), b.list...)
	return s
}

// box is the rectangle of the bounds of s.
func (s Space) box() Space { return Space{dim: s.dim, lo: s.lo, hi: s.hi} }

// bound computes what follows from the list of rows, which is not empty.
func (s *Space) bound() {
	sp, last := s.sparse, int(s.dim)
	sp.first = make([]int64, len(sp.list))
	s.lo, s.hi = sp.list[0].Lo, sp.list[0].Lo
	for k, r := range sp.list {
		sp.first[k] = sp.count
		sp.count += r.N
		for d := range last {
			s.lo[d], s.hi[d] = min(s.lo[d], r.Lo[d]), max(s.hi[d], r.Lo[d]+1)
		}
		s.lo[last], s.hi[last] = min(s.lo[last], r.Lo[last]), max(s.hi[last], r.Lo[last]+r.N)
	}
}

// unionWith is the points of s or t.
func (s Space) unionWith(t Space) Space {
	if r, ok := s.trivial(t); ok {
		return r
	}
	switch {
	case s.Count() == 0:
		return t
	case t.Count() == 0:
		return s
	}
	return s.combineWith(t, func(a, b bool) bool { return a || b })
}

// Intersect is the points of s and t.
func (s Space) Intersect(t Space) Space {
	if r, ok := s.trivial(t); ok {
		return r
	}
	switch {
	case s.Dense() && t.Dense():
		lo, hi := s.lo, s.hi
		for d := range s.Dim() {
			lo[d], hi[d] = max(lo[d], t.lo[d]), min(hi[d], t.hi[d])
		}
		return rect(s.Dim(), lo, hi)
	case s.Dense():
		return t.clip(s)
	case t.Dense():
		return s.clip(t)
	}
	return s.combineWith(t, func(a, b bool) bool { return a && b })
}

// Minus is the points of s that t does not have.
func (s Space) Minus(t Space) Space {
	if r, ok := s.trivial(t); ok {
		return r
	}
	if t = t.Intersect(s.box()); t.Count() == 0 {
		return s
	}
	return s.combineWith(t, func(a, b bool) bool { return a && !b })
}

// containsSpace tells whether s has all points of t.
func (s Space) containsSpace(t Space) bool {
	if s.err != nil || t.err != nil || s.dim != t.dim {
		return false
	}
	both := s.Intersect(t)
	return both.err == nil && both.Count() == t.Count()
}

// trivial is the result of an operation on what cannot be combined.
func (s Space) trivial(t Space) (Space, bool) {
	switch {
	case s.err != nil:
		return s, true
	case t.err != nil:
		return t, true
	case s.dim != t.dim:
		return bad("spaces of %d and of %d dimensions", s.Dim(), t.Dim()), true
	}
	return Space{}, false
}

// clip is the part of the sparse s in the rectangle t.
func (s Space) clip(t Space) Space {
	b, last := builder{dim: s.Dim()}, int(s.dim)
rows:
	for _, r := range s.sparse.list {
		for d := range last {
			if r.Lo[d] < t.lo[d] || r.Lo[d] >= t.hi[d] {
				continue rows
			}
		}
		end := min(r.Lo[last]+r.N, t.hi[last])
		r.Lo[last] = max(r.Lo[last], t.lo[last])
		if r.N = end - r.Lo[last]; r.N > 0 {
			b.addRow(r)
		}
	}
	return b.space()
}

// edges goes through the places where the rows of a space begin and end, in order.
type edges struct {
	w    walker
	last int
	at   Point // the next one
	end  Point // of the row, if in
	in   bool  // at is an end
	more bool
}

func (s Space) edges() edges {
	e := edges{w: s.walk(), last: int(s.dim)}
	e.addEdges()
	return e
}

func (e *edges) addEdges() {
	r, ok := e.w.nextRow()
	e.at, e.end, e.in, e.more = r.Lo, r.Lo.plusIn(e.last, r.N), false, ok
}

// passEdge goes beyond p if that is the next edge.
func (e *edges) passEdge(p Point) {
	switch {
	case !e.more || e.at != p:
	case e.in:
		e.addEdges()
	default:
		e.at, e.in = e.end, true
	}
}

// next is the first edge of a and b.
func next(a, b *edges) (Point, bool) {
	if !a.more || b.more && b.at.compareTo(a.at) < 0 {
		return b.at, b.more
	}
	return a.at, true
}

// combineWith keeps the points for which keep says so, given whether s and t have them.
func (s Space) combineWith(t Space, keep func(a, b bool) bool) Space {
	if s.RowCount()+t.RowCount() > 2*MaxRows {
		return bad("%d and %d rows, the limit is %d", s.RowCount(), t.RowCount(), MaxRows)
	}
	a, b, out := s.edges(), t.edges(), builder{dim: s.Dim()}
	var from Point
	kept := false
	for {
		p, ok := next(&a, &b)
		if !ok {
			return out.space()
		}
		a.passEdge(p)
		b.passEdge(p)
		if k := keep(a.in, b.in); k != kept {
			if kept {
				out.addRow(Row{from, p[s.dim] - from[s.dim]})
			}
			from, kept = p, k
		}
	}
}
