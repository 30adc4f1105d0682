package space

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"sort"
)

// Space is a set of points of one to three dimensions: a rectangle (dense), or a sorted list of rows (sparse). The zero
// Space is the empty space of one dimension. A Space that could not be made has an error (Err). It has no points, what
// is made of it has the error too, and no layout or plan takes it.
type Space struct {
	dim    int8 // less 1, so that the zero Space has one dimension
	lo, hi Point
	sparse *rows // nil: dense
	err    error
}

// rows is what a sparse space has besides its bounds.
type rows struct {
	list  []Row   // sorted; they neither overlap nor touch
	first []int64 // how many points precede each of them
	count int64
}

// Range is the points from lo up to, but not including, hi; none if hi is not above lo.
func Range(lo, hi int64) Space { return Rect([]int64{lo}, []int64{hi}) }

// Grid is the points from 0 up to n in each dimension.
func Grid(n ...int64) Space { return Rect(make([]int64, len(n)), n) }

// Rect is the points from lo up to, but not including, hi, in each dimension. Both have one to three coordinates.
func Rect(lo, hi []int64) Space {
	if len(lo) != len(hi) || len(lo) < 1 || len(lo) > MaxDim {
		return bad("%d and %d coordinates, want 1 to %d", len(lo), len(hi), MaxDim)
	}
	var l, h Point
	copy(l[:], lo)
	copy(h[:], hi)
	return rect(len(lo), l, h)
}

func bad(format string, args ...any) Space {
	return Space{err: fmt.Errorf("%w: %s", ErrSpace, fmt.Sprintf(format, args...))}
}

// rect makes the rectangle from lo to hi, which are 0 beyond dim.
func rect(dim int, lo, hi Point) Space {
	count := int64(1)
	for d := range dim {
		if lo[d] < -MaxCoord || hi[d] > MaxCoord || lo[d] > MaxCoord || hi[d] < -MaxCoord {
			return bad("coordinates %d to %d, the limit is %d", lo[d], hi[d], int64(MaxCoord))
		}
		n := max(0, hi[d]-lo[d])
		if n > 0 && count > math.MaxInt64/4/n {
			return bad("more than %d points", int64(math.MaxInt64/4))
		}
		count *= n
	}
	if count == 0 {
		return Space{dim: int8(dim - 1)}
	}
	return Space{dim: int8(dim - 1), lo: lo, hi: hi}
}

// Points is the space of dim dimensions that has the points of all list. They come in any order and may overlap.
func Points(dim int, list ...Row) Space {
	if dim < 1 || dim > MaxDim {
		return bad("%d dimensions, want 1 to %d", dim, MaxDim)
	}
	for _, r := range list {
		if s := rect(dim, r.Lo, r.endPoint(dim)); s.err != nil || r.N < 0 || r.N > 2*MaxCoord {
			return bad("row of %d points at %v", r.N, r.Lo)
		}
		if beyond(r.Lo, dim) != (Point{}) {
			return bad("point %v has more than %d coordinates", r.Lo, dim)
		}
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Row) int { return a.Lo.compareTo(b.Lo) })
	b := builder{dim: dim}
	for _, r := range list {
		b.addRow(r)
	}
	return b.space()
}

// beyond is p with its first dim coordinates made 0.
func beyond(p Point, dim int) Point {
	clear(p[:dim])
	return p
}

// endPoint is the point of each dimension behind the last of r.
func (r Row) endPoint(dim int) Point {
	p := r.Lo
	for d := range dim - 1 {
		p[d]++
	}
	if r.N > 2*MaxCoord { // so that the sum below does not overflow
		return p.plusIn(dim-1, 2*MaxCoord)
	}
	return p.plusIn(dim-1, r.N)
}

// Indices is the space of one dimension that has the points of list, which come in any order and may repeat.
func Indices(list ...int64) Space {
	list = slices.Clone(list)
	slices.Sort(list)
	b := builder{dim: 1}
	for _, i := range list {
		if i < -MaxCoord || i >= MaxCoord {
			return bad("point %d, the limit is %d", i, int64(MaxCoord))
		}
		b.addRow(Row{Point{i}, 1})
	}
	return b.space()
}

// Err is why the space could not be made; nil for any space that can be used.
func (s Space) Err() error { return s.err }

// Dim is the number of dimensions.
func (s Space) Dim() int { return int(s.dim) + 1 }

// Dense tells whether the space is a rectangle.
func (s Space) Dense() bool { return s.sparse == nil }

// Bounds is the smallest rectangle that has all points, from lo up to, but not including, hi.
func (s Space) Bounds() (lo, hi Point) { return s.lo, s.hi }

// Count is the number of points.
func (s Space) Count() int64 {
	if s.sparse != nil {
		return s.sparse.count
	}
	n := int64(1)
	for d := range s.Dim() {
		n *= s.hi[d] - s.lo[d]
	}
	return n
}

// RowCount is the number of rows that eachRow yields.
func (s Space) RowCount() int64 {
	if s.sparse != nil {
		return int64(len(s.sparse.list))
	}
	n := int64(1)
	for d := range s.Dim() - 1 {
		n *= s.hi[d] - s.lo[d]
	}
	if s.Count() == 0 {
		return 0
	}
	return n
}

// Has tells whether p is a point of s.
func (s Space) Has(p Point) bool { return s.Index(p) >= 0 }

// Index is the number of points of s before p, in the order of eachRow; -1 if s does not have p.
func (s Space) Index(p Point) int64 {
	if s.sparse != nil {
		k := s.sparse.findRow(p, s.Dim()-1, 0)
		if k < 0 {
			return -1
		}
		return s.sparse.first[k] + s.indexIn(p, k)
	}
	n := int64(0)
	for d := range MaxDim {
		if d >= s.Dim() && p[d] == 0 {
			continue
		}
		if p[d] < s.lo[d] || p[d] >= s.hi[d] {
			return -1
		}
		n = n*(s.hi[d]-s.lo[d]) + p[d] - s.lo[d]
	}
	return n
}

// indexIn is the place of p in row k.
func (s Space) indexIn(p Point, k int) int64 { return p[s.dim] - s.sparse.list[k].Lo[s.dim] }

// findRow is the number of the row that has p, -1 if none has. It looks at row hint and the next one first.
func (r *rows) findRow(p Point, last, hint int) int {
	for k := hint; k < min(hint+2, len(r.list)); k++ {
		if r.list[k].hasPoint(p, last) {
			return k
		}
	}
	k := sort.Search(len(r.list), func(k int) bool { return r.list[k].Lo.compareTo(p) > 0 }) - 1
	if k < 0 || !r.list[k].hasPoint(p, last) {
		return -1
	}
	return k
}

// hasPoint tells whether p is in r, which extends in dimension last.
func (r Row) hasPoint(p Point, last int) bool {
	d := p[last] - r.Lo[last]
	return d >= 0 && d < r.N && p.plusIn(last, -d) == r.Lo
}

// eachRow yields the rows of s, ordered by their first coordinates. Rows that touch within a dense space are not
// joined.
func (s Space) eachRow() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		it := s.walk()
		for r, ok := it.nextRow(); ok && yield(r); r, ok = it.nextRow() {
		}
	}
}

// All yields the points of s in the order of eachRow.
func (s Space) All() iter.Seq[Point] {
	return func(yield func(Point) bool) {
		for r := range s.eachRow() {
			for i := range r.N {
				if !yield(r.Lo.plusIn(int(s.dim), i)) {
					return
				}
			}
		}
	}
}

// walker goes through the rows of a space.
type walker struct {
	s    Space
	k    int   // of a sparse space: the next row
	at   Point // of a dense space: the beginning of the next row
	done bool
}

func (s Space) walk() walker {
	return walker{s: s, at: s.lo, done: s.Count() == 0}
}

func (w *walker) nextRow() (r Row, ok bool) {
	if w.done {
		return Row{}, false
	}
	if sp := w.s.sparse; sp != nil {
		r = sp.list[w.k]
		w.k++
		w.done = w.k == len(sp.list)
		return r, true
	}
	last := int(w.s.dim)
	r = Row{w.at, w.s.hi[last] - w.s.lo[last]}
	d := last - 1
	for ; d >= 0; d-- {
		if w.at[d]++; w.at[d] < w.s.hi[d] {
			break
		}
		w.at[d] = w.s.lo[d]
	}
	w.done = d < 0
	return r, true
}

// Equal tells whether s and t have the same points. Spaces with an error equal none.
func (s Space) Equal(t Space) bool {
	if s.err != nil || t.err != nil || s.dim != t.dim || s.lo != t.lo || s.hi != t.hi {
		return false
	}
	if s.sparse == nil || t.sparse == nil {
		return s.sparse == t.sparse
	}
	return slices.Equal(s.sparse.list, t.sparse.list)
}

// String names dimensions, bounds and the number of points.
func (s Space) String() string {
	if s.err != nil {
		return s.err.Error()
	}
	kind := "dense"
	if !s.Dense() {
		kind = "sparse"
	}
	return fmt.Sprintf("%s space from %v to %v, %d points", kind, s.lo[:s.Dim()], s.hi[:s.Dim()], s.Count())
}
