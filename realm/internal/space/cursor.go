package space

import (
	"fmt"
	"iter"
	"sort"
	"unsafe"
)

// Run is Count pieces of Len bytes each, which are Step bytes apart. On a side that has an index list the k-th is
// List[k]*Step bytes behind the offset.
type Run struct {
	Dst, Src         int64 // offsets
	Len, Count       int64
	DstStep, SrcStep int64
	List             []int64 // of a gather's source or a scatter's destination
	listed           int     // the side of List: 1 is the destination, 2 the source
}

// Bytes is how many bytes of the stream the run has.
func (r Run) Bytes() int64 { return r.Len * r.Count }

// Cursor moves the bytes of a plan. It is used by one at a time. Its calls neither block nor allocate.
type Cursor struct {
	plan     *Plan
	dst, src []byte
	group    int // where the last call ended
	piece    int
}

// Over is a cursor over memories that hold the two layouts. dst may be nil if it only packs, src if it only unpacks.
// The memories may be the same, but the bytes that are read must not be among those that are written.
func (p *Plan) Over(dst, src []byte) (*Cursor, error) {
	if src != nil && p.src.free {
		return nil, fmt.Errorf("%w: the plan has no source", errMemory)
	}
	if dst != nil && int64(len(dst)) < p.dst.need || src != nil && int64(len(src)) < p.src.need {
		return nil, fmt.Errorf("%w: %d and %d bytes, the layouts need %d and %d",
			errMemory, len(dst), len(src), p.dst.need, p.src.need)
	}
	return &Cursor{plan: p, dst: dst, src: src}, nil
}

// eachRun yields the runs of the whole plan in the order of the stream.
func (p *Plan) eachRun() iter.Seq[Run] {
	return func(yield func(Run) bool) {
		c := Cursor{plan: p}
		for off := int64(0); off < p.size; {
			var r Run
			c.runFrom(&r, off, p.size-off)
			if off += r.Bytes(); !yield(r) {
				return
			}
		}
	}
}

// Pack fills b with the bytes of the stream from byte off on, taken from the source. Bytes beyond the stream stay.
func (c *Cursor) Pack(b []byte, off int) {
	if c.src == nil {
		return
	}
	var r Run
	for at := int64(off); len(b) > 0 && at < c.plan.size; {
		c.runFrom(&r, at, min(int64(len(b)), c.plan.size-at))
		pack(b, c.src, &r)
		n := r.Bytes()
		at, b = at+n, b[n:]
	}
}

// Unpack puts b, the bytes of the stream from byte off on, to their places in the destination. Bytes beyond the stream
// are ignored.
func (c *Cursor) Unpack(b []byte, off int) {
	if c.dst == nil || off < 0 {
		return
	}
	var r Run
	for at := int64(off); len(b) > 0 && at < c.plan.size; {
		c.runFrom(&r, at, min(int64(len(b)), c.plan.size-at))
		unpack(c.dst, b, &r)
		n := r.Bytes()
		at, b = at+n, b[n:]
	}
}

// Copy moves n bytes of the stream, from byte off on, from the source to the destination; all that there are if n is
// larger. It returns the offset behind them.
func (c *Cursor) Copy(off, n int64) int64 {
	n = min(n, c.plan.size-off)
	if c.dst == nil || c.src == nil || off < 0 {
		return off
	}
	var r Run
	for n > 0 {
		c.runFrom(&r, off, n)
		move(c.dst, c.src, &r)
		done := r.Bytes()
		off, n = off+done, n-done
	}
	return off
}

// runFrom sets r to the longest run from byte off of the stream on, which has at most limit bytes. off lies in the
// stream.
func (c *Cursor) runFrom(r *Run, off, limit int64) {
	g := c.seekGroup(off)
	rel := off - g.start
	e := rel / g.len
	in := rel - e*g.len
	if in == 0 && limit >= g.len {
		r.Len, r.Count = g.len, limit/g.len
	} else {
		r.Len, r.Count = min(g.len-in, limit), 1
	}
	switch p := c.plan; {
	case p.lists != nil:
		c.listed(r, g, e)
	case p.pieces != nil:
		c.rows(r, g, e)
	default:
		g.loops(r, e)
	}
	r.Dst += in
	r.Src += in
}

func (c *Cursor) seekGroup(off int64) *group {
	gs := c.plan.groups
	for off < gs[c.group].start {
		c.group--
	}
	for c.group+1 < len(gs) && off >= gs[c.group+1].start {
		c.group++
	}
	return &gs[c.group]
}

// loops has r begin at element e of dense points and end with the inner loop.
func (g *group) loops(r *Run, e int64) {
	out, mid, in := &g.levels[0], &g.levels[1], &g.levels[2]
	i := e % in.count
	j := e / in.count
	k := j / mid.count
	j %= mid.count
	r.Dst = g.dst.base + i*in.dst + j*mid.dst + k*out.dst
	r.Src = g.src.base + i*in.src + j*mid.src + k*out.src
	r.Count = min(r.Count, in.count-i)
	r.DstStep, r.SrcStep = in.dst, in.src
}

// rows has r begin at point e and end with its piece.
func (c *Cursor) rows(r *Run, g *group, e int64) {
	p, x := c.plan, c.seekPiece(e)
	in := e - x.first
	r.DstStep, r.SrcStep = g.dst.stride[p.dst.last], g.src.stride[p.src.last]
	r.Dst = p.dst.offset(&g.dst, &x.lo, x.dst) + in*r.DstStep
	r.Src = p.src.offset(&g.src, &x.lo, x.src) + in*r.SrcStep
	r.Count = min(r.Count, x.n-in)
	if r.Count > 1 && r.DstStep == r.Len && r.SrcStep == r.Len {
		r.Len, r.Count = r.Len*r.Count, 1
	}
}

// listed is rows for a plan with a list.
func (c *Cursor) listed(r *Run, g *group, e int64) {
	p, x := c.plan, c.seekPiece(e)
	in := e - x.first
	r.Count = min(r.Count, x.n-in)
	l := &p.lists[g.list]
	r.List = l.at[e : e+r.Count]
	r.DstStep, r.SrcStep = g.dst.stride[p.dst.last], g.src.stride[p.src.last]
	r.Dst, r.Src = g.dst.base, g.src.base
	if p.dst.listed {
		r.listed, r.DstStep = 1, l.step
		r.Src = p.src.offset(&g.src, &x.lo, x.src) + in*r.SrcStep
	} else {
		r.listed, r.SrcStep = 2, l.step
		r.Dst = p.dst.offset(&g.dst, &x.lo, x.dst) + in*r.DstStep
	}
}

// seekPiece finds the piece that has point e of the stream.
func (c *Cursor) seekPiece(e int64) *piece {
	ps := c.plan.pieces
	for k := c.piece; k < min(c.piece+2, len(ps)); k++ {
		if e >= ps[k].first && e < ps[k].first+ps[k].n {
			c.piece = k
			return &ps[k]
		}
	}
	c.piece = sort.Search(len(ps), func(k int) bool { return ps[k].first > e }) - 1
	return &ps[c.piece]
}

// at is where byte off of b is.
func at(b []byte, off int64) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), off)
}

func pack(b, src []byte, r *Run) {
	if r.listed == 2 {
		gather(at(b, 0), r.Len, at(src, r.Src), r.SrcStep, r.List, r.Len)
		return
	}
	strided(at(b, 0), r.Len, at(src, r.Src), r.SrcStep, r.Len, r.Count)
}

func unpack(dst, b []byte, r *Run) {
	if r.listed == 1 {
		scatter(at(dst, r.Dst), r.DstStep, r.List, at(b, 0), r.Len, r.Len)
		return
	}
	strided(at(dst, r.Dst), r.DstStep, at(b, 0), r.Len, r.Len, r.Count)
}

func move(dst, src []byte, r *Run) {
	d, s := at(dst, r.Dst), at(src, r.Src)
	switch r.listed {
	case 1:
		scatter(d, r.DstStep, r.List, s, r.SrcStep, r.Len)
	case 2:
		gather(d, r.DstStep, s, r.SrcStep, r.List, r.Len)
	default:
		strided(d, r.DstStep, s, r.SrcStep, r.Len, r.Count)
	}
}
