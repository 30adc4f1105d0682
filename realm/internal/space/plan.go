package space

import (
	"cmp"
	"fmt"
	"slices"
)

// Pair names a field of the destination and the field of the source that is copied there.
type Pair struct{ Dst, Src int }

// Plan is a copy between two layouts: which bytes, and in which order. The order makes a stream of Size bytes, which a
// Cursor packs from the source, unpacks to the destination, or copies between the two, from any byte on.
//
// The stream has one group of fields after the other. Within a group dense points are ordered as they lie in the
// destination, the others as Space.eachRow yields them. So the destination's layout and the Stream are enough to
// unpack.
type Plan struct {
	dst, src side
	groups   []group
	pieces   []piece  // nil: the points are dense in both layouts, and each group has levels
	lists    []places // gather and scatter: the points of the side that is listed
	points   Space
	size     int64
}

// side is what a plan needs of a layout, but for the places of its fields.
type side struct {
	lo     Point // of a dense space
	last   int   // the dimension that moves fastest
	sparse bool
	listed bool  // by Plan.lists
	free   bool  // there is no such side: the plan only unpacks, or fills
	need   int64 // bytes of memory
}

// group is fields that lie behind each other in both layouts, and are copied together.
type group struct {
	start    int64 // where it begins in the stream
	len      int64 // bytes of an element
	dst, src place
	field    int      // the first, in the destination
	width    int64    // of the fields, before elements were joined
	list     int      // of Plan.lists
	levels   [3]level // dense: loops around the elements, from the outer to the inner one; unused ones have count 1
}

// level is a loop.
type level struct{ count, dst, src int64 }

// piece is points that follow each other in both layouts.
type piece struct {
	first    int64 // how many points precede it in the stream
	n        int64
	lo       Point
	dst, src int64 // the number of its first point in a sparse layout
}

// NewPlan is the copy of points from src to dst, field by field. Fields of a pair have one size. Both layouts have all
// points. Errors: ErrPoints, ErrFields, ErrSpace.
func NewPlan(dst, src *Layout, points Space, pairs ...Pair) (*Plan, error) {
	groups, err := grouped(dst, src, pairs)
	if err != nil {
		return nil, err
	}
	return build(dst, src, points, groups, !dst.space.Dense() || !src.space.Dense() || !points.Dense(), nil)
}

// List is points: the Dim coordinates of one after the other. Those beyond the dimensions of their space are 0. The
// zero List is none.
type List struct {
	Dim int
	At  []int64
}

// Line is a list of points of one dimension.
func Line(at []int64) List { return List{1, at} }

// point is the k-th.
func (l *List) point(k int) (p Point) {
	copy(p[:], l.At[k*l.Dim:][:l.Dim])
	return p
}

// listing tells which side of a copy a list selects the points of.
type listing struct {
	List
	dst bool
}

// places is where the listed points lie: each at a multiple of step from the base of its field.
type places struct {
	stride Point // of the fields that it is for
	step   int64
	at     []int64
}

// Gather is the copy that fills the k-th point of points in dst from the k-th of list in src. Errors are those of
// NewPlan; ErrPoints also for a list that is not as long as points, or has fewer coordinates than src.
func Gather(dst, src *Layout, points Space, list List, pairs ...Pair) (*Plan, error) {
	groups, err := grouped(dst, src, pairs)
	if err != nil {
		return nil, err
	}
	return build(dst, src, points, groups, true, &listing{list, false})
}

// Scatter is the copy that fills the k-th point of list in dst from the k-th point of points in src. Which value a
// point has in the end that is listed more than once is not specified. Errors as for Gather.
func Scatter(dst, src *Layout, points Space, list List, pairs ...Pair) (*Plan, error) {
	groups, err := grouped(dst, src, pairs)
	if err != nil {
		return nil, err
	}
	return build(dst, src, points, groups, true, &listing{list, true})
}

// grouped joins fields that lie behind each other on both sides.
func grouped(dst, src *Layout, pairs []Pair) (groups []group, err error) {
	if len(pairs) == 0 || len(pairs) > MaxFields {
		return nil, fmt.Errorf("%w: %d pairs, want 1 to %d", ErrFields, len(pairs), MaxFields)
	}
	for _, p := range pairs {
		if p.Dst < 0 || p.Dst >= len(dst.fields) || p.Src < 0 || p.Src >= len(src.fields) {
			return nil, fmt.Errorf("%w: fields %d and %d, there are %d and %d",
				ErrFields, p.Dst, p.Src, len(dst.fields), len(src.fields))
		}
		d, s, size := dst.places[p.Dst], src.places[p.Src], dst.fields[p.Dst].Size
		if size != src.fields[p.Src].Size {
			return nil, fmt.Errorf("%w: field %q has %d bytes, field %q %d",
				ErrFields, dst.fields[p.Dst].Name, size, src.fields[p.Src].Name, src.fields[p.Src].Size)
		}
		if d.span == s.span {
			size = d.span // with the padding, so that more of it lies in one piece
		}
		if k := len(groups) - 1; k >= 0 && groups[k].joins(d, s) {
			groups[k].len += size
			continue
		}
		groups = append(groups, group{len: size, dst: d, src: s, field: p.Dst})
	}
	return groups, nil
}

// joins tells whether fields at d and s follow those of g.
func (g *group) joins(d, s place) bool {
	return d.stride == g.dst.stride && s.stride == g.src.stride && d.base == g.dst.base+g.len && s.base == g.src.base+g.len
}

// build makes a plan of groups that have len, dst, src and field. Without src it has a destination only.
func build(dst, src *Layout, points Space, groups []group, inRows bool, list *listing) (*Plan, error) {
	if points.err != nil {
		return nil, points.err
	}
	p := &Plan{dst: dst.side(), src: side{free: true}, groups: groups, points: points}
	if src != nil {
		p.src = src.side()
	}
	for k := range groups {
		groups[k].width = groups[k].len
	}
	if list != nil {
		if err := p.useList(dst, src, *list); err != nil {
			return nil, err
		}
	}
	if inRows {
		if err := p.addRows(dst, src); err != nil {
			return nil, err
		}
	} else if !dst.space.containsSpace(points) || src != nil && !src.space.containsSpace(points) {
		return nil, outside(points, dst, src)
	}
	n := points.Count()
	for k := range groups {
		g := &groups[k]
		g.start = p.size
		all, err := times(n, g.len)
		if err != nil {
			return nil, err
		}
		if p.size += all; p.size > MaxBytes {
			return nil, tooLarge(p.size)
		}
		if !inRows && n > 0 {
			g.nest(p, points)
		}
	}
	return p, nil
}

func outside(points Space, dst, src *Layout) error {
	if src == nil {
		src = dst
	}
	return fmt.Errorf("%w: %v, destination: %v, source: %v", ErrPoints, points, dst.space, src.space)
}

func (l *Layout) side() side {
	return side{lo: l.space.lo, last: int(l.space.dim), sparse: !l.space.Dense(), need: l.size}
}

// nest makes the loops over dense points, and joins what lies in one piece on both sides.
func (g *group) nest(p *Plan, points Space) {
	var ls []level
	g.dst.base += g.dst.from(&p.dst.lo, &points.lo)
	g.src.base += g.src.from(&p.src.lo, &points.lo)
	for d := range points.Dim() {
		if n := points.hi[d] - points.lo[d]; n > 1 {
			ls = append(ls, level{n, g.dst.stride[d], g.src.stride[d]})
		}
	}
	slices.SortStableFunc(ls, func(a, b level) int { return cmp.Compare(abs(b.dst), abs(a.dst)) })
	for k := len(ls) - 1; k >= 0 && ls[k].dst == g.len && ls[k].src == g.len; k-- {
		g.len *= ls[k].count
		ls = ls[:k]
	}
	for k := len(ls) - 2; k >= 0; k-- {
		if out, in := ls[k], ls[k+1]; out.dst == in.count*in.dst && out.src == in.count*in.src {
			ls[k] = level{out.count * in.count, in.dst, in.src}
			ls = slices.Delete(ls, k+1, k+2)
		}
	}
	g.levels = [3]level{{count: 1}, {count: 1}, {count: 1}}
	copy(g.levels[3-len(ls):], ls)
}

// useList finds the listed points.
func (p *Plan) useList(dst, src *Layout, list listing) error {
	listed, s := src, &p.src
	if list.dst {
		listed, s = dst, &p.dst
	}
	dim := listed.space.Dim()
	if list.Dim < dim || list.Dim > MaxDim {
		return fmt.Errorf("%w: a list of points of %d coordinates, for %v", ErrPoints, list.Dim, listed.space)
	}
	n := len(list.At) / list.Dim
	if int64(n) != p.points.Count() || len(list.At)%list.Dim != 0 {
		return fmt.Errorf("%w: %d indices for %d points", ErrPoints, n, p.points.Count())
	}
	s.listed = true
	at := make([]int64, n)
	for k := range at {
		x := list.point(k)
		if at[k] = listed.space.Index(x); at[k] < 0 {
			return fmt.Errorf("%w: index %v at place %d; %v", ErrPoints, x[:dim], k, listed.space)
		}
	}
	for k := range p.groups {
		g := &p.groups[k]
		pl := &g.src
		if list.dst {
			pl = &g.dst
		}
		g.list = p.placesOf(pl, s, list.List, at)
	}
	return nil
}

// placesOf is the number of the list for a field at pl. at has the numbers of the points, which tell where they lie in
// all but a dense space of several dimensions.
func (p *Plan) placesOf(pl *place, s *side, list List, at []int64) int {
	k := slices.IndexFunc(p.lists, func(l places) bool { return l.stride == pl.stride })
	if k >= 0 {
		return k
	}
	l := places{pl.stride, pl.stride[s.last], at}
	if !s.sparse && s.last > 0 {
		l.step, l.at = 1, make([]int64, len(at))
		for k := range at {
			x := list.point(k)
			l.at[k] = pl.from(&s.lo, &x)
		}
	}
	p.lists = append(p.lists, l)
	return len(p.lists) - 1
}

// addRows cuts the points into pieces that follow each other in both layouts.
func (p *Plan) addRows(dst, src *Layout) error {
	if p.points.RowCount() > MaxRows {
		return fmt.Errorf("%w: %d rows, the limit is %d", ErrSpace, p.points.RowCount(), MaxRows)
	}
	var first int64
	d, s := finder{l: dst, side: &p.dst}, finder{l: src, side: &p.src}
	p.pieces = []piece{}
	for r := range p.points.eachRow() {
		for r.N > 0 {
			dn, dat := d.findRun(r.Lo, first)
			sn, sat := s.findRun(r.Lo, first)
			n := min(r.N, dn, sn)
			if n <= 0 || len(p.pieces) == 2*MaxRows {
				return outside(p.points, dst, src)
			}
			p.addPiece(piece{first, n, r.Lo, dat, sat})
			first += n
			r = Row{r.Lo.plusIn(int(p.points.dim), n), r.N - n}
		}
	}
	return nil
}

// finder finds points of a layout, best in order.
type finder struct {
	l    *Layout
	side *side
	row  int
}

// findRun tells how many points follow p in the layout, itself included, and its number if the layout is sparse or
// listed.
func (f *finder) findRun(p Point, first int64) (n, at int64) {
	if f.side.listed || f.side.free {
		return 1 << 62, first
	}
	s := f.l.space
	if s.Dense() {
		if s.Index(p) < 0 {
			return 0, 0
		}
		return s.hi[s.dim] - p[s.dim], 0
	}
	k := s.sparse.findRow(p, int(s.dim), f.row)
	if k < 0 {
		return 0, 0
	}
	f.row = k
	in := s.indexIn(p, k)
	return s.sparse.list[k].N - in, s.sparse.first[k] + in
}

// addPiece appends x, or lengthens the last piece by it.
func (p *Plan) addPiece(x piece) {
	if k := len(p.pieces) - 1; k >= 0 {
		last := &p.pieces[k]
		follows := func(s *side, pl *place, a, b int64) bool {
			return s.listed || s.free || s.offset(pl, &x.lo, b) == s.offset(pl, &last.lo, a)+last.n*pl.stride[s.last]
		}
		all := true
		for g := range p.groups {
			pl := &p.groups[g]
			all = all && follows(&p.dst, &pl.dst, last.dst, x.dst) && follows(&p.src, &pl.src, last.src, x.src)
		}
		if all {
			last.n += x.n
			return
		}
	}
	p.pieces = append(p.pieces, x)
}

// offset is where the element of a point is, which is number n if the layout is sparse.
func (s *side) offset(pl *place, lo *Point, n int64) int64 {
	if s.sparse {
		return pl.base + n*pl.stride[s.last]
	}
	return pl.base + pl.from(&s.lo, lo)
}

// Size is the number of bytes that move. Padding may be among them.
func (p *Plan) Size() int64 { return p.size }
