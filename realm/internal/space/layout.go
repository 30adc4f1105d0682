package space

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// MaxFields is how many fields a layout may have.
const MaxFields = 256

// arrayAlign is where the arrays of a structure of arrays begin: at cache lines.
const arrayAlign = 64

// Field is a value that every point has. Its elements must hold no pointers, since they are moved as bytes.
type Field struct {
	Name  string // at most 255 bytes; the fields of a layout have different ones
	Size  int64  // of an element, in bytes
	Align int64  // its offsets are multiples of this power of two, at most 4096
}

// Layout tells where the elements of each point of a space lie in memory: field f of point p is at Offset(p, f). In a
// dense space the offset is linear in the coordinates. In a sparse space it is linear in the number of points before p,
// so no memory is spent on points that are not there.
type Layout struct {
	space  Space
	fields []Field
	places []place
	size   int64
	align  int64
}

// place is where the elements of one field are.
type place struct {
	base   int64 // the first point of the bounds; in a sparse space the first point
	stride Point // from a point to the next one in each dimension; in a sparse space only the last one counts
	span   int64 // the bytes from an element on that hold nothing else: itself, and padding behind it
}

// AOS is the layout of an array of structures: the fields of a point lie together, ordered and aligned as in Go.
// order lists the dimensions, from the one that moves slowest to the one that moves fastest; without it that is 0, 1,
// 2.
func AOS(s Space, fields []Field, order ...int) (*Layout, error) {
	l, err := newLayout(s, fields)
	if err != nil {
		return nil, err
	}
	at := int64(0)
	for f, x := range fields {
		at = roundUp(at, x.Align)
		l.places[f].base = at
		at += x.Size
	}
	whole := roundUp(at, l.align)
	for f := range l.places {
		end := whole
		if f+1 < len(l.places) {
			end = l.places[f+1].base
		}
		l.places[f].span = end - l.places[f].base
		if _, err := l.strides(f, whole, order); err != nil {
			return nil, err
		}
	}
	l.size, err = times(s.Count(), whole)
	return l, err
}

// SOA is the layout of a structure of arrays: each field has an array of its own. order is as for AOS.
func SOA(s Space, fields []Field, order ...int) (*Layout, error) {
	l, err := newLayout(s, fields)
	if err != nil {
		return nil, err
	}
	for f, x := range fields {
		pl := &l.places[f]
		pl.span = roundUp(x.Size, x.Align)
		pl.base = roundUp(l.size, max(x.Align, arrayAlign))
		array, err := l.strides(f, pl.span, order)
		if err != nil {
			return nil, err
		}
		if l.size = pl.base + array; l.size > MaxBytes {
			return nil, tooLarge(l.size)
		}
	}
	return l, nil
}

// Place is where the elements of a field lie: that of the least coordinates at byte Base, and Stride[d] bytes from each
// point to the next one in dimension d. A sparse space has one stride, from each point to the next one.
type Place struct {
	Base   int64
	Stride []int64
}

// Strided is a layout that the caller gives, in a memory of size bytes; of as few bytes as can be if size is negative.
// Strides may be negative. Elements of one field must not overlap; those of two fields may.
func Strided(s Space, fields []Field, places []Place, size int64) (*Layout, error) {
	l, err := newLayout(s, fields)
	if err != nil {
		return nil, err
	}
	if len(places) != len(fields) {
		return nil, fmt.Errorf("%w: %d places for %d fields", errLayout, len(places), len(fields))
	}
	l.size = size
	for f, p := range places {
		pl := place{base: p.Base, span: fields[f].Size}
		at := 0
		if !s.Dense() {
			at = s.Dim() - 1
		}
		if copied := copy(pl.stride[at:s.Dim()], p.Stride); copied != len(p.Stride) || copied != s.Dim()-at {
			return nil, fmt.Errorf("%w: %d strides for field %d in %d dimensions", errLayout, len(p.Stride), f, s.Dim())
		}
		l.places[f] = pl
	}
	if size < 0 {
		l.size = l.least()
	}
	return l, l.checkPlaces()
}

// least is the size of memory that has all elements; too large a number if there can be none.
func (l *Layout) least() (size int64) {
	if l.space.Count() == 0 {
		return 0
	}
	for f, p := range l.places {
		high := min(max(0, p.base), MaxBytes) + l.fields[f].Size
		for d := range l.space.Dim() {
			if p.stride[d] <= 0 || l.extent(d) == 1 {
				continue
			}
			length, err := times(l.extent(d)-1, p.stride[d])
			if err != nil {
				return MaxBytes + 1
			}
			high += length
		}
		size = max(size, high)
	}
	return size
}

func newLayout(s Space, fields []Field) (*Layout, error) {
	if s.err != nil {
		return nil, s.err
	}
	if len(fields) == 0 || len(fields) > MaxFields {
		return nil, fmt.Errorf("%w: %d fields, want 1 to %d", errLayout, len(fields), MaxFields)
	}
	l := &Layout{space: s, fields: slices.Clone(fields), places: make([]place, len(fields)), align: 1}
	for f, x := range fields {
		aligned := x.Align >= 1 && x.Align <= 4096 && x.Align&(x.Align-1) == 0
		if x.Size < 1 || x.Size > MaxBytes/2 || !aligned || len(x.Name) > 255 {
			return nil, fmt.Errorf("%w: field %d of %d bytes, alignment %d, named %.255q", errLayout, f, x.Size,
				x.Align, x.Name)
		}
		if l.Field(x.Name) != f {
			return nil, fmt.Errorf("%w: two fields are named %q", errLayout, x.Name)
		}
		l.align = max(l.align, x.Align)
	}
	return l, nil
}

func roundUp(n, align int64) int64 { return (n + align - 1) &^ (align - 1) }

// times is n*size if a layout may be so large.
func times(n, size int64) (int64, error) {
	high, low := bits.Mul64(uint64(n), uint64(size))
	if high != 0 || low > MaxBytes {
		return 0, fmt.Errorf("%w: %d points of %d bytes, the limit is %d bytes", errLayout, n, size, int64(MaxBytes))
	}
	return int64(low), nil
}

func tooLarge(size int64) error {
	return fmt.Errorf("%w: %d bytes, the limit is %d", errLayout, size, int64(MaxBytes))
}

// strides sets those of field f for elements that are step bytes apart, and returns the bytes of all of them.
func (l *Layout) strides(f int, step int64, order []int) (int64, error) {
	dim := l.space.Dim()
	if order == nil {
		order = []int{0, 1, 2}[:dim]
	}
	if s := slices.Sorted(slices.Values(order)); !slices.Equal(s, []int{0, 1, 2}[:dim]) {
		return 0, fmt.Errorf("%w: order %v of %d dimensions", errLayout, order, dim)
	}
	all, err := times(l.space.Count(), step)
	if err != nil {
		return 0, err
	}
	if !l.space.Dense() {
		l.places[f].stride[dim-1] = step
		return all, nil
	}
	for _, d := range slices.Backward(order) {
		l.places[f].stride[d] = step
		step *= max(1, l.space.hi[d]-l.space.lo[d])
	}
	return all, nil
}

// extent is how many points there are in dimension d, as strides count them.
func (l *Layout) extent(d int) int64 {
	switch {
	case l.space.Dense():
		return l.space.hi[d] - l.space.lo[d]
	case d == l.space.Dim()-1:
		return l.space.Count()
	}
	return 1
}

// checkPlaces tells what is wrong with the places of l.
func (l *Layout) checkPlaces() error {
	if l.size < 0 || l.size > MaxBytes {
		return tooLarge(l.size)
	}
	for f, p := range l.places {
		if err := l.checkPlace(p, l.fields[f]); err != nil {
			return fmt.Errorf("%w: field %q: %w", errLayout, l.fields[f].Name, err)
		}
	}
	return nil
}

// checkPlace finds elements that are not aligned, lie outside of the memory, or overlap others of their field.
func (l *Layout) checkPlace(p place, x Field) error {
	if l.space.Count() == 0 {
		return nil
	}
	if p.base < 0 || p.base > l.size || p.base%x.Align != 0 || p.span < x.Size || p.span > l.size {
		return fmt.Errorf("%d bytes at %d, alignment %d, in %d", p.span, p.base, x.Align, l.size)
	}
	low, high := p.base, p.base+p.span
	for d := range l.space.Dim() {
		n, stride := l.extent(d)-1, p.stride[d]
		if n == 0 {
			continue
		}
		length, err := times(n, max(stride, -stride))
		if err != nil || length < 0 || stride%x.Align != 0 {
			return fmt.Errorf("stride %d in dimension %d, alignment %d", stride, d, x.Align)
		}
		if stride < 0 {
			low -= length
		} else {
			high += length
		}
	}
	if low < 0 || high > l.size {
		return fmt.Errorf("bytes %d to %d, in %d", low, high, l.size)
	}
	return l.checkOverlap(p)
}

// checkOverlap allows strides each of which goes beyond all that the smaller ones reach.
func (l *Layout) checkOverlap(p place) error {
	dims := []int{0, 1, 2}[:l.space.Dim()]
	slices.SortFunc(dims, func(a, b int) int { return cmp.Compare(abs(p.stride[a]), abs(p.stride[b])) })
	reach := p.span
	for _, d := range dims {
		if n := l.extent(d) - 1; n > 0 {
			if abs(p.stride[d]) < reach {
				return fmt.Errorf("elements overlap: stride %d, below %d", p.stride[d], reach)
			}
			reach += n * abs(p.stride[d])
		}
	}
	return nil
}

func abs(n int64) int64 { return max(n, -n) }

// Space is the space of l.
func (l *Layout) Space() Space { return l.space }

// Fields are the fields of l. They are not to be changed.
func (l *Layout) Fields() []Field { return l.fields }

// Field is the number of the field of that name, -1 if there is none.
func (l *Layout) Field(name string) int {
	return slices.IndexFunc(l.fields, func(f Field) bool { return f.Name == name })
}

// Size is how many bytes of memory the layout needs.
func (l *Layout) Size() int64 { return l.size }

// Align is the largest alignment of a field, and so that of the memory.
func (l *Layout) Align() int64 { return l.align }

// Offset is where field f of point p begins, in bytes; -1 if there is no such point or field.
func (l *Layout) Offset(p Point, f int) int64 {
	if f < 0 || f >= len(l.fields) {
		return -1
	}
	n := l.space.Index(p)
	if n < 0 {
		return -1
	}
	pl := &l.places[f]
	if !l.space.Dense() {
		return pl.base + n*pl.stride[l.space.dim]
	}
	return pl.base + pl.from(&l.space.lo, &p)
}

// from is how far p lies behind the point lo.
func (pl *place) from(lo, p *Point) int64 {
	return (p[0]-lo[0])*pl.stride[0] + (p[1]-lo[1])*pl.stride[1] + (p[2]-lo[2])*pl.stride[2]
}
