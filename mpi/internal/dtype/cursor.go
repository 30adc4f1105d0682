package dtype

import (
	"sort"
	"unsafe"
)

// Cursor is a number of elements in memory, as a message of bytes. It serves as source and target of messages of
// package comm. Its calls keep nothing, so several may be under way at once, at different places of the message.
type Cursor struct {
	base unsafe.Pointer
	size int64
	top  node
}

// Over makes c a cursor over count elements at base. Places of the type are relative to base; it may be nil where they
// are addresses in memory that is not Go's (MPI_BOTTOM). What is there must stay there as long as c is used. If the
// number of bytes is no int64, or count is negative, Len is -1. Over allocates nothing once t has its program.
func (t *Type) Over(c *Cursor, base unsafe.Pointer, count int64) {
	c.base = base
	size, ok := t.Bytes(count)
	if !ok {
		c.size, c.top = -1, node{}
		return
	}
	c.size, c.top = size, times(t.prog(), count, t.ub-t.lb)
}

// Len is the number of packed bytes.
func (c *Cursor) Len() int { return int(c.size) }

// Piece is the memory of all packed bytes, if that is one piece.
func (c *Cursor) Piece() (mem []byte, ok bool) {
	if c.top.kind != runNode {
		return nil, false
	}
	return unsafe.Slice((*byte)(unsafe.Add(c.base, c.top.off)), int(c.size)), true
}

// Pack fills dst with the packed bytes from off on. There must be as many.
func (c *Cursor) Pack(dst []byte, off int) {
	if len(dst) > 0 {
		c.checkRange(int64(off), int64(len(dst)))
		m := mover{base: c.base, buf: unsafe.Pointer(unsafe.SliceData(dst)), direction: packing}
		m.moveNode(&c.top, 0, int64(off), int64(len(dst)))
	}
}

// Unpack puts src, the packed bytes from off on, where they belong, and touches nothing else. If places of the type
// overlap, what comes last stays.
func (c *Cursor) Unpack(src []byte, off int) {
	if len(src) > 0 {
		c.checkRange(int64(off), int64(len(src)))
		m := mover{base: c.base, buf: unsafe.Pointer(unsafe.SliceData(src)), direction: unpacking}
		m.moveNode(&c.top, 0, int64(off), int64(len(src)))
	}
}

// eachRun calls f for the pieces of memory that hold n packed bytes from off on, in their order, until f returns false.
// Adjacent ones come as one. f may change what is in them, and must not keep them.
func (c *Cursor) eachRun(off, n int64, f func(mem []byte) bool) {
	if n <= 0 {
		return
	}
	c.checkRange(off, n)
	var list [32]typeRun
	for used, end := 0, off+n; off < end; {
		m := mover{direction: listing, list: list[:], used: used}
		m.moveNode(&c.top, 0, off, end-off)
		off += m.pos
		used = m.used
		if off < end {
			used-- // what comes next may be adjacent to the last one
		}
		for _, p := range list[:used] {
			if !f(unsafe.Slice((*byte)(unsafe.Add(c.base, p.at)), p.n)) {
				return
			}
		}
		list[0], used = list[len(list)-1], 1
	}
}

// checkRange panics if the packed bytes that are asked for do not exist: the memory beside would be touched.
func (c *Cursor) checkRange(off, n int64) {
	if off < 0 || n > c.size-off {
		panic("dtype: bytes beyond the end of a message are packed or unpacked")
	}
}

// copyDirection is what a mover does.
type copyDirection uint8

const (
	packing   copyDirection = iota // memory to buffer
	unpacking                      // buffer to memory
	listing                        // notes where the pieces are
)

// typeRun is n bytes of memory at a distance from the base.
type typeRun struct{ at, n int64 }

// mover goes over a part of the packed bytes. All addresses are made of base or buf where they are used, since a
// pointer beside the memory must never be kept.
type mover struct {
	base      unsafe.Pointer
	buf       unsafe.Pointer
	pos       int64 // in buf; bytes that are done
	direction copyDirection

	list []typeRun // of listing: where there is room
	used int
	stop bool // the list is full
}

// moveNode goes over n packed bytes from off on of a node that is part of what lies at.
func (m *mover) moveNode(p *node, at, off, n int64) {
	at += p.off
	switch p.kind {
	case runNode:
		m.movePiece(at+off, n)
	case stridedNode:
		m.moveStrided(p, at, off, n)
	case blocksNode:
		m.moveBlocks(p, at, off, n)
	case listNode:
		m.moveList(p, at, off, n)
	case loopNode, placesNode:
		m.moveBodies(p, at, off, n)
	case seqNode:
		m.moveKids(p, at, off, n)
	}
}

func (m *mover) moveStrided(p *node, at, off, n int64) {
	if off != 0 {
		i, r := off/p.len, off%p.len
		at += i * p.stride
		if r != 0 {
			k := min(p.len-r, n)
			m.movePiece(at+r, k)
			at, n = at+p.stride, n-k
		}
	}
	whole := p.n
	if n != p.size {
		whole = n / p.len
	}
	m.strided(at, p.len, p.stride, whole)
	if rest := n - whole*p.len; rest > 0 {
		m.movePiece(at+whole*p.stride, rest)
	}
}

func (m *mover) moveBlocks(p *node, at, off, n int64) {
	i := off / p.len
	if r := off % p.len; r != 0 {
		k := min(p.len-r, n)
		m.movePiece(at+p.offs[i]+r, k)
		i, n = i+1, n-k
	}
	whole := n / p.len
	m.scattered(at, p.len, p.offs[i:i+whole])
	if rest := n - whole*p.len; rest > 0 {
		m.movePiece(at+p.offs[i+whole], rest)
	}
}

func (m *mover) moveList(p *node, at, off, n int64) {
	i := find(p.ends, off)
	r := off - begin(p.ends, i)
	if r == 0 && n == p.size && m.direction != listing {
		m.wholeList(p, at)
		return
	}
	for ; n > 0 && !m.stop; i++ {
		k := min(p.ends[i]-off, n)
		m.movePiece(at+p.offs[i]+r, k)
		off, n, r = off+k, n-k, 0
	}
}

// moveBodies goes over a body that is repeated.
func (m *mover) moveBodies(p *node, at, off, n int64) {
	i, r := int64(0), int64(0)
	if off != 0 {
		i, r = off/p.len, off%p.len
	}
	list := p.body.kind == listNode && m.direction != listing
	rows := n >= fewRows*p.len && m.inRows(p)
	for ; n > 0 && !m.stop; i++ {
		place := i * p.stride
		if rows && r == 0 && n >= p.len {
			whole := n / p.len
			m.rows(p, at+place, whole)
			i, n = i+whole-1, n%p.len
			continue
		}
		if p.kind == placesNode {
			place = p.offs[i]
		}
		if list && r == 0 && n >= p.len {
			m.wholeList(p.body, at+p.body.off+place)
			n -= p.len
			continue
		}
		k := min(p.len-r, n)
		m.moveNode(p.body, at+place, r, k)
		n, r = n-k, 0
	}
}

func (m *mover) moveKids(p *node, at, off, n int64) {
	i := find(p.ends, off)
	r := off - begin(p.ends, i)
	for ; n > 0 && !m.stop; i++ {
		k := min(p.ends[i]-off, n)
		m.moveNode(&p.kids[i], at, r, k)
		off, n, r = off+k, n-k, 0
	}
}

// find is the first one whose end is beyond off.
func find(ends []int64, off int64) int {
	if off == 0 {
		return 0
	}
	return sort.Search(len(ends), func(i int) bool { return ends[i] > off })
}

func begin(ends []int64, i int) int64 {
	if i == 0 {
		return 0
	}
	return ends[i-1]
}

// movePiece packs, unpacks or lists n bytes that lie in one piece at byte at, as m.direction says. Then it goes on by n
// in the packed bytes.
func (m *mover) movePiece(at, n int64) {
	switch m.direction {
	case packing:
		moveOne(m.buf, m.pos, m.base, at, n)
	case unpacking:
		moveOne(m.base, at, m.buf, m.pos, n)
	case listing:
		if m.notePiece(at, n); m.stop {
			return
		}
	}
	m.pos += n
}

// notePiece adds a piece to the list, or to its last one if they are adjacent. Nothing is noted after a piece for which
// there was no room.
func (m *mover) notePiece(at, n int64) {
	if m.stop {
		return
	}
	if m.used > 0 {
		if last := &m.list[m.used-1]; last.at+last.n == at {
			last.n += n
			return
		}
	}
	if m.used == len(m.list) {
		m.stop = true
		return
	}
	m.list[m.used] = typeRun{at, n}
	m.used++
}
