package main

import (
	"slices"

	"github.com/golci/golci/examples/internal/graph"
	"github.com/golci/golci/mpi"
)

// shard is one rank's part of the graph: its own vertices with the edges that lead to them. Equal edges count once, as
// in the serial solution. Nothing changes in it once it is built.
type shard struct {
	layout
	rank   int
	first  int      // number of the first own vertex
	degree []uint32 // edges that leave each own vertex, to anywhere

	// Edges by target: sources[rows[v]:rows[v+1]] lead to own vertex v. A source is a place in the array of values,
	// where own vertices come first and then ghosts, ascending.
	rows    []int
	sources []uint32

	ghosts int         // vertices of other ranks that edges come from
	gives  [][]segment // for each block the values that other ranks need of it
	takes  [][]segment // for each block the ghosts that its twins on other ranks send
}

// segment is what goes in one message: the values of some vertices.
type segment struct {
	peer   int
	lo, hi int      // takes: places of the values, one behind the other
	places []uint32 // gives: places of the values
}

// need tells the owner of a vertex who has how many edges from it.
type need struct{ Vertex, Edges uint32 }

// build makes the shards from the edges that each rank has read. It is collective, and waits.
func build(c *mpi.Comm, d directory, edges []edge, blocks int) (*shard, error) {
	s := &shard{layout: layout{vertices: len(d), ranks: c.Size(), blocks: blocks}, rank: c.Rank()}
	lo, hi := s.own(s.rank)
	s.first, s.degree = lo, make([]uint32, hi-lo)
	number, packed := d.numbers(), make([]uint64, len(edges))
	for i, e := range edges {
		packed[i] = uint64(number(e.To))<<32 | uint64(number(e.From))
	}
	mine, _, err := graph.Deal(c, packed, func(e uint64) int { return s.owner(int(e >> 32)) })
	if err != nil {
		return nil, err
	}
	slices.Sort(mine)
	mine = slices.Compact(mine)
	uses := make([]uint32, s.vertices)
	for _, e := range mine {
		uses[uint32(e)]++
	}
	if err := s.register(c, uses); err != nil {
		return nil, err
	}
	s.index(mine, s.plan(uses))
	return s, nil
}

// register tells the owners of all vertices how many edges leave them for here, and notes who needs the own ones.
func (s *shard) register(c *mpi.Comm, uses []uint32) error {
	var needs []need
	for v, n := range uses {
		if n > 0 {
			needs = append(needs, need{Vertex: uint32(v), Edges: n})
		}
	}
	got, from, err := graph.Deal(c, needs, func(n need) int { return s.owner(int(n.Vertex)) })
	if err != nil {
		return err
	}
	s.gives = make([][]segment, s.blocks)
	for r, n := range from {
		for _, x := range got[:n] {
			s.degree[int(x.Vertex)-s.first] += x.Edges
		}
		if r != s.rank {
			s.give(r, got[:n])
		}
		got = got[n:]
	}
	return nil
}

// give plans the messages to one rank: what it needs, cut at the ends of the blocks.
func (s *shard) give(peer int, needs []need) {
	for i := range s.blocks {
		_, hi := s.block(s.rank, i)
		var places []uint32
		for len(needs) > 0 && int(needs[0].Vertex) < hi {
			places = append(places, uint32(int(needs[0].Vertex)-s.first))
			needs = needs[1:]
		}
		if len(places) > 0 {
			s.gives[i] = append(s.gives[i], segment{peer: peer, places: places})
		}
	}
}

// plan finds the ghosts and the messages that bring them, and returns the place of each vertex among the values.
func (s *shard) plan(uses []uint32) (place []uint32) {
	s.takes = make([][]segment, s.blocks)
	own := len(s.degree)
	for r := range s.ranks {
		for i := range s.blocks {
			lo, hi := s.block(r, i)
			if r == s.rank {
				continue
			}
			begin := own + s.ghosts
			for v := lo; v < hi; v++ {
				if uses[v] > 0 {
					uses[v] = uint32(own + s.ghosts)
					s.ghosts++
				}
			}
			if end := own + s.ghosts; begin < end {
				s.takes[i] = append(s.takes[i], segment{peer: r, lo: begin, hi: end})
			}
		}
	}
	for v := range own {
		uses[s.first+v] = uint32(v)
	}
	return uses // not needed as counts any more
}

// index makes the rows from edges sorted by target and source.
func (s *shard) index(edges []uint64, place []uint32) {
	s.rows = make([]int, len(s.degree)+1)
	s.sources = make([]uint32, len(edges))
	for i, e := range edges {
		s.rows[int(e>>32)-s.first+1]++
		s.sources[i] = place[uint32(e)]
	}
	for v := range s.degree {
		s.rows[v+1] += s.rows[v]
	}
}
