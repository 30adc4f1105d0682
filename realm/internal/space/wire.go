package space

import (
	"encoding/binary"
	"fmt"
)

// The encodings. Numbers are varints. A space is its dimensions, then its bounds, or its rows as differences. Decoding
// takes memory in proportion to the bytes that there are, whatever they say.

const (
	formDense  = 0
	formSparse = 1
)

// AppendSpace appends the encoding of s to b. s has no error.
func AppendSpace(b []byte, s Space) []byte {
	if s.sparse == nil {
		b = append(b, formDense, byte(s.Dim()))
		for d := range s.Dim() {
			b = binary.AppendVarint(b, s.lo[d])
			b = binary.AppendUvarint(b, uint64(s.hi[d]-s.lo[d]))
		}
		return b
	}
	b = append(b, formSparse, byte(s.Dim()))
	b = binary.AppendUvarint(b, uint64(len(s.sparse.list)))
	var prev Point
	for _, r := range s.sparse.list {
		for d := range s.Dim() {
			b = binary.AppendVarint(b, r.Lo[d]-prev[d])
		}
		b = binary.AppendUvarint(b, uint64(r.N))
		prev = r.Lo
	}
	return b
}

// reader takes values from the front of bytes. Its first fault stays.
type reader struct {
	b   []byte
	err error
}

func (r *reader) failf(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", errWire, fmt.Sprintf(format, args...))
	}
	r.b = nil
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.failf("too short")
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

// uint is a number up to limit.
func (r *reader) uint(limit int64) int64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > uint64(limit) {
		r.failf("number %d of %d bytes, the limit is %d", v, n, limit)
		return 0
	}
	r.b = r.b[n:]
	return int64(v)
}

// int is a number from -limit to limit.
func (r *reader) int(limit int64) int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 || v > limit || v < -limit {
		r.failf("number %d of %d bytes, the limit is %d", v, n, limit)
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) space() Space {
	form, dim := r.byte(), int(r.byte())
	if dim < 1 || dim > MaxDim || form > formSparse {
		r.failf("space of %d dimensions, form %d", dim, form)
		return Space{}
	}
	var s Space
	if form == formDense {
		s = r.dense(dim)
	} else {
		s = r.sparse(dim)
	}
	if r.err == nil && s.err != nil {
		r.failf("%v", s.err)
	}
	return s
}

func (r *reader) dense(dim int) Space {
	var lo, hi Point
	for d := range dim {
		lo[d] = r.int(MaxCoord)
		hi[d] = lo[d] + r.uint(2*MaxCoord)
	}
	return rect(dim, lo, hi)
}

// sparse takes rows, which must come in order and neither overlap nor touch.
func (r *reader) sparse(dim int) Space {
	n := r.uint(min(MaxRows, int64(len(r.b))/int64(dim+1)))
	b := builder{dim: dim, list: make([]Row, 0, n)}
	var at Point
	for range n {
		for d := range dim {
			at[d] += r.int(2 * MaxCoord)
		}
		row := Row{at, r.uint(2 * MaxCoord)}
		if r.err != nil {
			return Space{}
		}
		if k := len(b.list); k > 0 && at.compareTo(b.list[k-1].Lo) <= 0 || row.N == 0 || rect(dim, at,
			row.endPoint(dim)).err != nil {
			r.failf("row of %d points at %v", row.N, at)
			return Space{}
		}
		if b.addRow(row); len(b.list) == 0 || b.list[len(b.list)-1] != row {
			r.failf("row of %d points at %v touches another", row.N, at)
			return Space{}
		}
	}
	return b.space()
}

// DecodeSpace takes a space from the front of b, and returns what follows it. Any b gives a space or errWire.
func DecodeSpace(b []byte) (s Space, rest []byte, err error) {
	r := reader{b: b}
	s = r.space()
	return s, r.b, r.err
}

// Append appends the encoding of l to b.
func (l *Layout) Append(b []byte) []byte {
	b = AppendSpace(b, l.space)
	b = binary.AppendUvarint(b, uint64(l.size))
	b = binary.AppendUvarint(b, uint64(len(l.fields)))
	for f, x := range l.fields {
		b = append(b, byte(len(x.Name)))
		b = append(b, x.Name...)
		b = binary.AppendUvarint(b, uint64(x.Size))
		b = binary.AppendUvarint(b, uint64(x.Align))
		p := l.places[f]
		b = binary.AppendUvarint(b, uint64(p.base))
		b = binary.AppendUvarint(b, uint64(p.span))
		for d := range l.space.Dim() {
			b = binary.AppendVarint(b, p.stride[d])
		}
	}
	return b
}

// DecodeLayout takes a layout from the front of b, and returns what follows it. Any b gives a layout all of whose
// elements lie aligned within its size, or errWire.
func DecodeLayout(b []byte) (l *Layout, rest []byte, err error) {
	r := reader{b: b}
	s := r.space()
	size := r.uint(MaxBytes)
	n := r.uint(MaxFields)
	var fields []Field
	var places []place
	for range n {
		if r.err != nil {
			return nil, nil, r.err
		}
		f, p := r.field(s.Dim())
		fields, places = append(fields, f), append(places, p)
	}
	if r.err != nil {
		return nil, nil, r.err
	}
	if l, err = newLayout(s, fields); err == nil {
		l.size = size
		copy(l.places, places)
		err = l.checkPlaces()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errWire, err)
	}
	return l, r.b, nil
}

func (r *reader) field(dim int) (f Field, p place) {
	n := int(r.byte())
	if n > len(r.b) {
		r.failf("name of %d bytes, there are %d", n, len(r.b))
		return f, p
	}
	f.Name, r.b = string(r.b[:n]), r.b[n:]
	f.Size, f.Align = r.uint(MaxBytes), r.uint(4096)
	p.base, p.span = r.uint(MaxBytes), r.uint(MaxBytes)
	for d := range dim {
		p.stride[d] = r.int(MaxBytes)
	}
	return f, p
}

// AppendStream appends to b what Receive needs at the rank of the destination, which need not know the source's layout.
// The index list of a scatter is not part of it.
func (p *Plan) AppendStream(b []byte) []byte {
	b = AppendSpace(b, p.points)
	b = append(b, boolByte(p.pieces != nil))
	b = binary.AppendUvarint(b, uint64(len(p.groups)))
	for _, g := range p.groups {
		b = binary.AppendUvarint(b, uint64(g.field))
		b = binary.AppendUvarint(b, uint64(g.width))
	}
	return b
}

func boolByte(v bool) byte {
	if v {
		return 1
	}
	return 0
}

// Receive is the plan of a destination for a stream of which AppendStream has made the front of b. It can unpack only.
// index is the list of a scatter, else none. It returns what follows in b. Any b gives a plan that stays within the
// layout, or an error.
func (l *Layout) Receive(b []byte, index List) (p *Plan, rest []byte, err error) {
	r := reader{b: b}
	points := r.space()
	inRows := r.byte() != 0
	n := r.uint(MaxFields)
	var groups []group
	for range n {
		f, width := int(r.uint(int64(len(l.fields)-1))), r.uint(MaxBytes)
		if r.err != nil {
			break
		}
		pl := l.places[f]
		pl.span = width
		if width < 1 || l.checkPlace(pl, Field{Size: 1, Align: 1}) != nil {
			r.failf("%d bytes from field %d on", width, f)
			break
		}
		groups = append(groups, group{len: width, dst: l.places[f], src: l.places[f], field: f})
	}
	if r.err != nil {
		return nil, nil, r.err
	}
	if !inRows && (!l.space.Dense() || !points.Dense() || index.Dim != 0) {
		return nil, nil, fmt.Errorf("%w: form of the stream", errWire)
	}
	var list *listing
	if index.Dim != 0 {
		list = &listing{index, true}
	}
	p, err = build(l, nil, points, groups, inRows, list)
	return p, r.b, err
}
