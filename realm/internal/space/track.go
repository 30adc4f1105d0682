package space

import "sort"

// Track tells where one field of each point of a space lies, by the number of the point (Space.Index).
type Track struct {
	pieces []trackPiece
	step   int64
	count  int64
}

type trackPiece struct{ first, off int64 }

// Track is where field f of the points of s lies. Errors: ErrPoints, ErrFields, ErrSpace.
func (l *Layout) Track(s Space, f int) (*Track, error) {
	groups, err := grouped(l, l, []Pair{{f, f}})
	if err != nil {
		return nil, err
	}
	p, err := build(l, nil, s, groups, true, nil)
	if err != nil {
		return nil, err
	}
	t := &Track{step: l.places[f].stride[l.space.dim], count: s.Count()}
	for _, x := range p.pieces {
		t.pieces = append(t.pieces, trackPiece{x.first, p.dst.offset(&p.groups[0].dst, &x.lo, x.dst)})
	}
	return t, nil
}

// Step is how many bytes are between points that follow each other within a piece.
func (t *Track) Step() int64 { return t.step }

// Count is the number of points.
func (t *Track) Count() int64 { return t.count }

// Find is the offset of point n, and how many points from it on are Step bytes apart. n is from 0 up to Count.
func (t *Track) Find(n int64) (off, run int64) {
	k := len(t.pieces) - 1
	if t.pieces[k].first > n {
		k = sort.Search(k, func(k int) bool { return t.pieces[k].first > n }) - 1
	}
	end := t.count
	if k+1 < len(t.pieces) {
		end = t.pieces[k+1].first
	}
	return t.pieces[k].off + (n-t.pieces[k].first)*t.step, end - n
}

// Linear tells whether all points are Step bytes apart; off is that of the first.
func (t *Track) Linear() (off int64, ok bool) {
	if len(t.pieces) == 1 {
		return t.pieces[0].off, true
	}
	return 0, len(t.pieces) == 0
}
