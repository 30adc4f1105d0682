package dtype

// nodeKind is how the data of a node lie.
type nodeKind uint8

const (
	runNode     nodeKind = iota // len bytes in one piece; there may be none
	stridedNode                 // n pieces of len bytes, stride apart
	blocksNode                  // pieces of len bytes at offs
	listNode                    // pieces of different lengths at offs; ends has their ends in the packed bytes
	loopNode                    // n times the body, of len packed bytes, stride apart
	placesNode                  // the body, of len packed bytes, at offs
	seqNode                     // kids one after the other; ends has their ends in the packed bytes
)

// node is a program, or a part of one: the places of packed bytes in their order. Nodes do not change, and are shared
// between the programs of several types.
type node struct {
	kind   nodeKind
	off    int64 // place of the node, relative to that of what it is part of
	size   int64 // packed bytes
	len    int64
	n      int64
	stride int64
	pieces int64 // how many runs
	offs   []int64
	ends   []int64
	body   *node
	kids   []node
}

// Types that are given as parts of others are taken apart if that makes few pieces: they may be adjacent to others.
const (
	fewPieces = 32  // of a list that is repeated
	fewCopies = 4   // of pieces at a stride beside others
	mostParts = 256 // of a list or sequence that is taken apart
)

// prog is the program of one element.
func (t *Type) prog() *node {
	if p := t.program.Load(); p != nil {
		return p
	}
	p := t.compile()
	t.program.Store(&p)
	return &p
}

func (t *Type) compile() node {
	if t.blocks == nil && t.basic != 0 {
		return run(0, t.size)
	}
	if t.size == 0 {
		return node{}
	}
	if p, ok := t.alike(); ok {
		return repeat(&p, t.reps, t.step)
	}
	var j joiner
	for i := range t.blocks {
		b := &t.blocks[i]
		if b.n == 0 || b.t.size == 0 {
			continue
		}
		p := repeat(b.t.prog(), b.n, b.t.ub-b.t.lb)
		j.addNode(&p, b.disp)
	}
	p := j.endNode()
	return repeat(&p, t.reps, t.step)
}

// alike makes the node of many equal blocks, unless they are runs: those may be adjacent.
func (t *Type) alike() (node, bool) {
	first := t.blocks[0]
	if len(t.blocks) <= fewPieces {
		return node{}, false
	}
	for i := range t.blocks {
		if b := &t.blocks[i]; b.t != first.t || b.n != first.n {
			return node{}, false
		}
	}
	body := repeat(first.t.prog(), first.n, first.t.ub-first.t.lb)
	if body.kind == runNode {
		return node{}, false
	}
	offs := make([]int64, len(t.blocks))
	for i := range offs {
		offs[i] = t.blocks[i].disp
	}
	n := int64(len(offs))
	return node{
		kind: placesNode, size: n * body.size, len: body.size, n: n, pieces: n * body.pieces,
		offs: offs, body: &body,
	}, true
}

func run(off, n int64) node { return node{off: off, size: n, len: n, n: 1, pieces: 1} }

// repeat is n times b, stride apart. Short lists are written out, so that what becomes adjacent is merged.
func repeat(b *node, n, stride int64) node {
	if (b.kind == blocksNode || b.kind == listNode) && n > 1 && n <= fewPieces/int64(len(b.offs)) {
		var j joiner
		for i := range n {
			j.addNode(b, i*stride)
		}
		return j.endNode()
	}
	return times(b, n, stride)
}

// times is n times b, stride apart, without an allocation.
func times(b *node, n, stride int64) node {
	switch {
	case n == 0 || b.size == 0:
		return node{}
	case n == 1:
		return *b
	case b.kind == runNode && stride == b.len:
		return run(b.off, n*b.len)
	case b.kind == runNode:
		return node{
			kind: stridedNode, off: b.off, size: n * b.len, len: b.len, n: n, stride: stride, pieces: n,
		}
	case (b.kind == stridedNode || b.kind == loopNode) && stride == b.n*b.stride:
		c := *b
		c.size, c.n, c.pieces = n*b.size, n*b.n, n*b.pieces
		return c
	}
	return node{kind: loopNode, size: n * b.size, len: b.size, n: n, stride: stride, pieces: n * b.pieces, body: b}
}

// joiner makes one node of several, one after the other. It collects pieces as long as they come, and merges adjacent
// ones.
type joiner struct {
	kids []node
	offs []int64
	ends []int64 // of the pieces, counted from the first one
}

func (j *joiner) addNode(b *node, at int64) {
	at += b.off
	switch {
	case b.kind == runNode:
		j.addPiece(at, b.len)
	case b.kind == stridedNode && b.n <= fewCopies:
		for i := range b.n {
			j.addPiece(at+i*b.stride, b.len)
		}
	case b.kind == blocksNode && len(b.offs) <= mostParts:
		for _, o := range b.offs {
			j.addPiece(at+o, b.len)
		}
	case b.kind == listNode && len(b.offs) <= mostParts:
		from := int64(0)
		for i, o := range b.offs {
			j.addPiece(at+o, b.ends[i]-from)
			from = b.ends[i]
		}
	case b.kind == seqNode && len(b.kids) <= mostParts:
		for i := range b.kids {
			j.addNode(&b.kids[i], at)
		}
	default:
		j.flushPieces()
		c := *b
		c.off = at
		j.kids = append(j.kids, c)
	}
}

func (j *joiner) addPiece(at, n int64) {
	last := len(j.offs) - 1
	if last >= 0 && j.offs[last]+j.length(last) == at {
		j.ends[last] += n
		return
	}
	if last >= 0 {
		n += j.ends[last]
	}
	j.offs, j.ends = append(j.offs, at), append(j.ends, n)
}

func (j *joiner) length(i int) int64 {
	if i == 0 {
		return j.ends[0]
	}
	return j.ends[i] - j.ends[i-1]
}

// flushPieces makes a kid of the pieces.
func (j *joiner) flushPieces() {
	n := len(j.offs)
	if n == 0 {
		return
	}
	k := node{size: j.ends[n-1], n: int64(n), pieces: int64(n)}
	switch {
	case n == 1:
		k = run(j.offs[0], j.ends[0])
	case !j.alike():
		k.kind, k.offs, k.ends = listNode, j.offs, j.ends
	case j.regular():
		k.kind, k.off, k.len, k.stride = stridedNode, j.offs[0], j.ends[0], j.offs[1]-j.offs[0]
	default:
		k.kind, k.len, k.offs = blocksNode, j.ends[0], j.offs
	}
	j.kids = append(j.kids, k)
	j.offs, j.ends = nil, nil
}

// alike reports that all pieces have one length.
func (j *joiner) alike() bool {
	for i, e := range j.ends {
		if e != int64(i+1)*j.ends[0] {
			return false
		}
	}
	return true
}

// regular reports that all pieces are one distance apart.
func (j *joiner) regular() bool {
	for i, o := range j.offs {
		if o != j.offs[0]+int64(i)*(j.offs[1]-j.offs[0]) {
			return false
		}
	}
	return true
}

func (j *joiner) endNode() node {
	j.flushPieces()
	switch len(j.kids) {
	case 0:
		return node{}
	case 1:
		return j.kids[0]
	}
	s := node{kind: seqNode, n: int64(len(j.kids)), kids: j.kids, ends: make([]int64, len(j.kids))}
	for i := range j.kids {
		s.size += j.kids[i].size
		s.pieces += j.kids[i].pieces
		s.ends[i] = s.size
	}
	return s
}
