// Package fileview tells where the data of a file lie as a view of it has them (14.3 of the standard). A view makes a
// stream of bytes of a file: those that the file type shows, tile after tile.
package fileview

import (
	"fmt"
	"math"
	"sort"

	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/errs"
)

// Run is a piece of a file: Len bytes at At.
type Run struct{ At, Len int64 }

// View is a view of a file. It does not change.
type View struct {
	disp   int64
	unit   int64 // bytes of an etype in the file
	extent int64 // from tile to tile
	size   int64 // stream bytes of a tile
	segs   []seg
	twice  bool // a byte of a tile is shown more than once
}

// seg is a piece of a tile: n bytes at a place of the tile, whose first one is byte pos of the tile's stream.
type seg struct{ at, pos, n int64 }

// Form is how data are written in a file.
type Form int

// Forms.
const (
	Native   Form = iota
	External      // external32 (14.5.2)
)

// New makes a view that begins at byte disp. errs.Arg: disp is negative; the file type is no whole number of etypes;
// its extent is not positive. errs.IO: its places are negative or go back. errs.UnsupportedOperation: places in
// external32 do not follow from those in memory, because basics of the file type grow or shrink by different factors.
func New(disp int64, etype, filetype *dtype.Type, form Form) (*View, error) {
	if disp < 0 {
		return nil, fmt.Errorf("%w: a view at byte %d", errs.Arg, disp)
	}
	_, extent := filetype.Bounds()
	v := &View{disp: disp, unit: Size(etype, form), extent: extent, size: Size(filetype, form)}
	if v.unit > 0 && v.size%v.unit != 0 {
		return nil, fmt.Errorf("%w: a file type of %d bytes is no whole number of etypes of %d", errs.Arg, v.size, v.unit)
	}
	v.unit = max(v.unit, 1)
	if v.size == 0 {
		return v, nil
	}
	if extent <= 0 {
		return nil, fmt.Errorf("%w: a file type with an extent of %d", errs.Arg, extent)
	}
	scale := ratio{1, 1}
	if form == External {
		var ok bool
		if scale, ok = scaling(filetype); !ok {
			return v.packed(filetype)
		}
		v.extent = scale.scaleBy(extent)
	}
	return v, v.cutTile(filetype, scale)
}

// Overlaps tells that a byte of the file is shown more than once. Such a view is for reading only.
func (v *View) Overlaps() bool { return v.twice }

// Size is how many bytes an element has in a file.
func Size(t *dtype.Type, form Form) int64 {
	if form == External {
		return dtype.ExternalSize(t, 1)
	}
	return t.Size()
}

// Extent is the distance of elements of t in a file (14.5.1).
func Extent(t *dtype.Type, form Form) (int64, error) {
	_, extent := t.Bounds()
	if form == Native {
		return extent, nil
	}
	scale, ok := scaling(t)
	switch {
	case ok:
		return scale.scaleBy(extent), nil
	case t.Dense():
		return dtype.ExternalSize(t, 1), nil
	}
	return 0, mixed()
}

func mixed() error {
	return fmt.Errorf("%w: basics with different factors in external32, in a type with holes", errs.UnsupportedOperation)
}

// ratio is what places are multiplied by.
type ratio struct{ times, over int64 }

func (r ratio) scaleBy(n int64) int64 { return n / r.over * r.times }

// scaling is how much longer the basics of t are in external32; !ok: not all of them alike.
func scaling(t *dtype.Type) (r ratio, ok bool) {
	r = ratio{1, 1}
	first := true
	ok = dtype.Walk(t, 1, func(b dtype.Basic, _, _ int64) bool {
		is := ratio{dtype.ExternalSize(dtype.Named(b), 1), dtype.Named(b).Size()}
		same := is.times*r.over == r.times*is.over
		if first {
			r, same, first = is, true, false
		}
		return same
	})
	return r, ok
}

// packed is a view by a type without holes, whose data are one piece in any form.
func (v *View) packed(filetype *dtype.Type) (*View, error) {
	if !filetype.Dense() {
		return nil, mixed()
	}
	v.extent = v.size
	v.segs = []seg{{0, 0, v.size}}
	return v, nil
}

// cutTile finds the pieces of a tile.
func (v *View) cutTile(filetype *dtype.Type, scale ratio) (err error) {
	pos, low, end := int64(0), int64(0), int64(0)
	dtype.Walk(filetype, 1, func(b dtype.Basic, at, n int64) bool {
		at, n = scale.scaleBy(at), scale.scaleBy(n*dtype.Named(b).Size())
		switch last := len(v.segs) - 1; {
		case n == 0:
			return true
		case at < low:
			err = fmt.Errorf("%w: places of the file type go back, or are negative", errs.IO)
			return false
		case last >= 0 && v.segs[last].at+v.segs[last].n == at:
			v.segs[last].n += n
		default:
			v.segs = append(v.segs, seg{at, pos, n})
		}
		v.twice = v.twice || at < end
		low, pos, end = at, pos+n, max(end, at+n)
		return true
	})
	return err
}

// Unit is how many bytes an etype has in the file, 1 of one without bytes.
func (v *View) Unit() int64 { return v.unit }

// At is where byte pos of the stream lies in the file. Of an empty view that is the beginning.
func (v *View) At(pos int64) int64 {
	if v.size == 0 {
		return v.disp
	}
	tile, pos := pos/v.size, pos%v.size
	s := v.seg(pos)
	return v.disp + tile*v.extent + s.at + pos - s.pos
}

// seg is the piece that has a byte of a tile.
func (v *View) seg(pos int64) *seg { return &v.segs[v.index(pos)] }

func (v *View) index(pos int64) int {
	return sort.Search(len(v.segs), func(i int) bool { return v.segs[i].pos+v.segs[i].n > pos })
}

// Fits tells whether the places of n bytes of the stream from pos on are places of a file. No byte of an empty view is.
func (v *View) Fits(pos, n int64) bool {
	switch {
	case pos < 0 || n < 0 || pos > math.MaxInt64-n:
		return false
	case n == 0:
		return true
	case v.size == 0:
		return false
	}
	tiles := (pos+n)/v.size + 2
	return tiles <= (math.MaxInt64-v.disp)/v.extent
}

// Runs calls f for the pieces of the file that hold n bytes of the stream from pos on, in the order of the stream,
// until f returns false. Adjacent ones come as one. Fits must hold.
func (v *View) Runs(pos, n int64, f func(Run) bool) {
	if n == 0 {
		return
	}
	if len(v.segs) == 1 && v.segs[0].n == v.extent {
		f(Run{v.At(pos), n})
		return
	}
	var last Run
	tile := v.disp + pos/v.size*v.extent
	pos %= v.size
	for i := v.index(pos); n > 0; i++ {
		if i == len(v.segs) {
			i, pos, tile = 0, 0, tile+v.extent
		}
		s := &v.segs[i]
		skip := pos - s.pos
		r := Run{tile + s.at + skip, min(s.n-skip, n)}
		n, pos = n-r.Len, pos+r.Len
		if last.Len > 0 && last.At+last.Len == r.At {
			last.Len += r.Len
			continue
		}
		if last.Len > 0 && !f(last) {
			return
		}
		last = r
	}
	f(last)
}

// Past is the first byte of the stream at or behind byte end of the file, as a whole number of etypes. Of an empty view
// it is 0.
func (v *View) Past(end int64) int64 {
	if v.size == 0 || end <= v.disp {
		return 0
	}
	tiles := (end-v.disp)/v.extent + 2
	units := sort.Search(int(tiles*v.size/v.unit), func(i int) bool { return v.At(int64(i)*v.unit) >= end })
	return int64(units) * v.unit
}
