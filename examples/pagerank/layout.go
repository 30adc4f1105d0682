package main

import "github.com/golci/golci/examples/internal/graph"

// layout says who computes which vertices, numbered from 0. They are cut into blocks of consecutive vertices, as equal
// as possible, perhaps empty. Each rank has the same number of blocks, and a thread for each.
type layout struct {
	vertices int
	ranks    int
	blocks   int // of each rank
}

// start is the first vertex of block b, counted over all ranks.
func (l layout) start(b int) int { return int(graph.Cut(int64(l.vertices), b, l.ranks*l.blocks)) }

// block is the range of vertices of block i of a rank.
func (l layout) block(rank, i int) (lo, hi int) {
	b := rank*l.blocks + i
	return l.start(b), l.start(b + 1)
}

// own is the range of vertices of a rank.
func (l layout) own(rank int) (lo, hi int) {
	return l.start(rank * l.blocks), l.start((rank + 1) * l.blocks)
}

// owner is the rank of vertex v.
func (l layout) owner(v int) int {
	// start(b) = floor(b*vertices/all), so the last b with start(b) <= v is this; neither product overflows, as
	// vertices and blocks are below 1<<32 and 1<<31.
	all := uint64(l.ranks * l.blocks)
	b := ((uint64(v)+1)*all - 1) / uint64(l.vertices)
	return int(b) / l.blocks
}

// counts is how many vertices each rank has.
func (l layout) counts() []int {
	n := make([]int, l.ranks)
	for r := range n {
		lo, hi := l.own(r)
		n[r] = hi - lo
	}
	return n
}
