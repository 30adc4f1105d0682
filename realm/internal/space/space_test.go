package space

import (
	"errors"
	"slices"
	"testing"
)

// set is the model of a space.
type set map[Point]bool

func setOf(s Space) set {
	m := set{}
	for p := range s.All() {
		m[p] = true
	}
	return m
}

// check compares s with its model and looks at what a space must be.
func check(t *testing.T, what string, s Space, want set) {
	t.Helper()
	if s.Err() != nil {
		t.Fatalf("%s: %v", what, s.Err())
	}
	var list []Point
	for p := range s.All() {
		list = append(list, p)
	}
	if int64(len(list)) != s.Count() || len(list) != len(want) {
		t.Fatalf("%s: %v has %d points, Count %d, want %d", what, s, len(list), s.Count(), len(want))
	}
	if !slices.IsSortedFunc(list, Point.compareTo) {
		t.Fatalf("%s: points out of order: %v", what, list)
	}
	for k, p := range list {
		if !want[p] || s.Index(p) != int64(k) {
			t.Fatalf("%s: point %v: wanted %v, index %d, want %d", what, p, want[p], s.Index(p), k)
		}
	}
	var prev Row
	n := int64(0)
	for r := range s.eachRow() {
		end := prev.Lo.plusIn(s.Dim()-1, prev.N)
		if n > 0 && (!s.Dense() && r.Lo == end || r.N < 1) {
			t.Fatalf("%s: row %v after %v", what, r, prev)
		}
		prev = r
		n++
	}
	if n != s.RowCount() {
		t.Fatalf("%s: %d rows, RowCount %d", what, n, s.RowCount())
	}
	lo, hi := s.Bounds()
	if box := Rect(lo[:s.Dim()], hi[:s.Dim()]); s.Dense() != (box.Count() == s.Count()) || !box.containsSpace(s) {
		t.Fatalf("%s: dense %v, bounds %v", what, s.Dense(), box)
	}
}

func where(a, b set, keep func(a, b bool) bool) set {
	m := set{}
	for _, s := range []set{a, b} {
		for p := range s {
			if keep(a[p], b[p]) {
				m[p] = true
			}
		}
	}
	return m
}

// TestSets compares the operations on random spaces with those on sets of points.
func TestSets(t *testing.T) {
	seeds(t, 600, func(t *testing.T, d die) {
		dim := 1 + d.IntN(3)
		a, b := d.space(dim), d.space(dim)
		ma, mb := setOf(a), setOf(b)
		check(t, "space", a, ma)
		check(t, "union", a.unionWith(b), where(ma, mb, func(a, b bool) bool { return a || b }))
		both := where(ma, mb, func(a, b bool) bool { return a && b })
		check(t, "intersection", a.Intersect(b), both)
		check(t, "difference", a.Minus(b), where(ma, mb, func(a, b bool) bool { return a && !b }))
		if a.containsSpace(b) != (len(both) == len(mb)) || !a.containsSpace(a.Intersect(b)) ||
			!a.unionWith(b).containsSpace(b) {
			t.Fatalf("%v contains %v: %v", a, b, a.containsSpace(b))
		}
		if !a.Equal(a.Minus(b).unionWith(a.Intersect(b))) || a.Equal(b) != (len(ma) == len(both) && len(mb) == len(both)) {
			t.Fatalf("%v and %v: equality", a, b)
		}
		for range 20 {
			p := Point{d.Int64N(70) - 5}
			for i := range dim - 1 {
				p[i+1] = d.Int64N(14) - 4
			}
			if a.Has(p) != ma[p] {
				t.Fatalf("%v has %v: %v", a, p, a.Has(p))
			}
		}
	})
}

func TestIndices(t *testing.T) {
	s := Indices(7, 3, 4, 3, 9, 8)
	check(t, "indices", s, set{{3}: true, {4}: true, {7}: true, {8}: true, {9}: true})
	if s.RowCount() != 2 || s.Dense() {
		t.Errorf("%v has %d rows", s, s.RowCount())
	}
	if s := Indices(5, 6, 7); !s.Dense() || !s.Equal(Range(5, 8)) {
		t.Errorf("%v is no range", s)
	}
	check(t, "none", Space{}, set{})
	check(t, "empty", Range(5, 2), set{})
	if !Grid(3, 0).Equal(Points(2)) {
		t.Error("an empty grid is not the empty space")
	}
}

// TestBadSpaces: what cannot be a space has an error that stays with what is made of it.
func TestBadSpaces(t *testing.T) {
	for name, s := range map[string]Space{
		"no dimension":     Grid(),
		"four dimensions":  Grid(1, 1, 1, 1),
		"two lengths":      Rect([]int64{1}, []int64{1, 2}),
		"large":            Range(0, MaxCoord+1),
		"low":              Range(-MaxCoord-1, 0),
		"both high":        Range(MaxCoord+5, MaxCoord+2),
		"volume":           Grid(MaxCoord, MaxCoord, MaxCoord),
		"row":              Points(1, Row{Point{5}, -1}),
		"long row":         Points(1, Row{Point{5}, 1 << 62}),
		"coordinate of 2":  Points(1, Row{Point{5, 1}, 1}),
		"five dimensions":  Points(5),
		"index":            Indices(3, MaxCoord),
		"dimensions":       Range(0, 3).unionWith(Grid(3, 3)),
		"union of bad":     Range(0, 3).unionWith(Grid()),
		"intersect bad":    Grid().Intersect(Range(0, 3)),
		"bad minus":        Grid().Minus(Range(0, 3)),
		"too many rows":    Grid(MaxRows+1, 2).Minus(Grid(1, 1)),
		"too many, united": Grid(3*MaxRows, 2).unionWith(Rect([]int64{0, 5}, []int64{3 * MaxRows, 6})),
	} {
		if !errors.Is(s.Err(), ErrSpace) || s.Count() != 0 {
			t.Errorf("%s: %v, %d points", name, s.Err(), s.Count())
		}
		if _, err := AOS(s, sizes[:1]); !errors.Is(err, ErrSpace) {
			t.Errorf("%s: a layout: %v", name, err)
		}
	}
	// Large rectangles are no trouble where the result is small.
	if s := Grid(MaxCoord, 2).Intersect(Points(2, Row{Point{3, 0}, 1}, Row{Point{9, 1}, 1})); s.Count() != 2 {
		t.Errorf("%v", s)
	}
	if s := Points(2, Row{Point{3, 0}, 1}, Row{Point{9, 1}, 1}).Minus(Grid(MaxCoord, 1)); s.Count() != 1 {
		t.Errorf("%v", s)
	}
}
