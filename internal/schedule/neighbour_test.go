package schedule

import (
	"bytes"
	"math/rand/v2"
)

// graph is a topology of all ranks, and which part of In comes with which part of Out.
type graph struct {
	near []Neighbours
	from [][]int // of each rank and part of Out: which part of In of that neighbour it is
}

// newGraph makes a graph by edges, with some of them several times and some to the rank itself, or a torus.
func newGraph(rnd *rand.Rand, size int) *graph {
	g := &graph{near: make([]Neighbours, size), from: make([][]int, size)}
	if rnd.IntN(2) == 0 {
		g.torus(rnd, size)
		return g
	}
	for range rnd.IntN(4 * size) {
		a, b := rnd.IntN(size), rnd.IntN(size)
		g.from[b] = append(g.from[b], len(g.near[a].To))
		g.near[a].To = append(g.near[a].To, b)
		g.near[b].From = append(g.near[b].From, a)
		if rnd.IntN(5) == 0 { // a neighbour that is none
			g.near[b].From, g.from[b] = append(g.near[b].From, -3), append(g.from[b], -1)
			g.near[a].To = append(g.near[a].To, -3)
		}
	}
	return g
}

// torus has the ranks in a grid of two dimensions, each of which may go round.
func (g *graph) torus(rnd *rand.Rand, size int) {
	high := 1
	for _, d := range rnd.Perm(size) {
		if size%(d+1) == 0 {
			high = d + 1
			break
		}
	}
	dims, round := [2]int{high, size / high}, [2]bool{rnd.IntN(2) == 0, rnd.IntN(2) == 0}
	for r := range size {
		at := [2]int{r / dims[1], r % dims[1]}
		for d := range 2 {
			for side, step := range []int{-1, 1} {
				to := at
				to[d] += step
				peer, part := -3, -1
				if to[d] >= 0 && to[d] < dims[d] || round[d] {
					to[d] = (to[d] + dims[d]) % dims[d]
					peer, part = to[0]*dims[1]+to[1], 2*d+1-side
				}
				g.near[r].From = append(g.near[r].From, peer)
				g.from[r] = append(g.from[r], part)
			}
		}
		g.near[r].To = g.near[r].From
		g.near[r].Pairs = true
	}
}

// edge is the length of part i that a rank sends.
func edge(rank, i int) int { return (7*rank + 3*i) % 23 }

// edges are the parts that a rank sends, and those that it gets.
func (c call) edges(rank int) (from, to *Parts, out, in int) {
	g, near := c.graph, c.graph.near[rank]
	give, get := make([]int, len(near.To)+1), make([]int, len(near.From)+1) // the last one has no bytes
	for i := range near.To {
		give[i] = edge(rank, i)
	}
	for i, peer := range near.From {
		if peer >= 0 {
			get[i] = edge(peer, g.from[rank][i])
		}
	}
	from, out = packed(In, give)
	to, in = packed(Out, get)
	return from, to, out, in
}

// gathered are equal parts of a rank's neighbours.
func (c call) gathered(rank int) *Parts { return &Parts{Buf: Out, Each: c.n} }

var neighbourly = []algorithm{
	{
		"NeighbourAllgather", func(c call, s *Schedule, p Place) {
			s.NeighbourAllgather(p.Rank, &c.graph.near[p.Rank], c.n, c.gathered(p.Rank))
		},
		contribution, func(c call, rank int) int { return c.n * len(c.graph.near[rank].From) }, never,
		func(c call, rank int) (b []byte) {
			for _, peer := range c.graph.near[rank].From {
				part := bytes.Repeat([]byte{0xee}, c.n)
				if peer >= 0 {
					part = contribution(c, peer)
				}
				b = append(b, part...)
			}
			return b
		},
	},
	{
		"NeighbourAlltoall", func(c call, s *Schedule, p Place) {
			from, to, _, _ := c.edges(p.Rank)
			s.NeighbourAlltoall(p.Rank, &c.graph.near[p.Rank], from, to)
		},
		func(c call, rank int) (b []byte) {
			for i := range c.graph.near[rank].To {
				b = append(b, c.bytesOf(rank, i, edge(rank, i))...)
			}
			return b
		},
		func(c call, rank int) int { _, _, _, room := c.edges(rank); return room }, never,
		func(c call, rank int) (b []byte) {
			for i, peer := range c.graph.near[rank].From {
				if peer >= 0 {
					part := c.graph.from[rank][i]
					b = append(b, c.bytesOf(peer, part, edge(peer, part))...)
				}
			}
			return b
		},
	},
}
