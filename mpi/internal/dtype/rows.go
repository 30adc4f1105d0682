package dtype

import "github.com/golci/golci/internal/platform/runs"

// A body of few pieces that is repeated often is moved by columns: the first piece of some copies, then the second one
// of these, and so on. So each column is one loop without calls.
const (
	fewRows  = 4     // copies from which on that pays
	rowBytes = 16384 // memory of the copies that are moved at a time, which stay in the first cache
)

// inRows reports that the copies of the body of a loop may be moved by columns: its pieces are few, there are loops for
// their lengths, and what is unpacked into one copy is in no other one.
func (m *mover) inRows(p *node) bool {
	b := p.body
	if m.direction == listing || p.kind != loopNode || b.n > fewPieces {
		return false
	}
	switch {
	case b.kind == stridedNode && b.n <= fewCopies, b.kind == blocksNode, b.kind == listNode:
	default:
		return false
	}
	var from, to int64
	for i := range b.n {
		at, n := b.pieceAt(i)
		if !runs.KnowsLength(n) {
			return false
		}
		if i == 0 {
			from, to = at, at+n
		}
		from, to = min(from, at), max(to, at+n)
	}
	return m.direction == packing || max(p.stride, -p.stride) >= to-from
}

// pieceAt is the i-th piece of a node of pieces: its place in the node, and its length.
func (p *node) pieceAt(i int64) (at, n int64) {
	switch p.kind {
	case stridedNode:
		return i * p.stride, p.len
	case blocksNode:
		return p.offs[i], p.len
	}
	return p.offs[i], p.ends[i] - begin(p.ends, int(i))
}

// rows moves n copies of the body of a loop.
func (m *mover) rows(p *node, at, n int64) {
	b := p.body
	most := max(rowBytes/max(p.stride, -p.stride, p.len), fewRows)
	for n > 0 {
		k := min(n, most)
		pos := m.pos
		for i := range b.n {
			o, length := b.pieceAt(i)
			o += at + b.off
			if m.direction == packing {
				runs.MoveRuns(length, m.buf, pos, p.len, m.base, o, p.stride, k)
			} else {
				runs.MoveRuns(length, m.base, o, p.stride, m.buf, pos, p.len, k)
			}
			pos += length
		}
		m.pos += k * p.len
		at, n = at+k*p.stride, n-k
	}
}
