package main

import (
	"math/rand/v2"
	"slices"

	"github.com/golci/golci/examples/internal/graph"
	"github.com/golci/golci/mpi"
)

// shard has this rank's vertices, which are those below n with its number as remainder: place v/size of vertex v.
type shard struct {
	c         *mpi.Comm
	n         int64
	begin     []int64 // of the neighbours of each vertex; one more at the end
	neighbour []int64
}

func (s *shard) owner(v int64) int   { return int(v % int64(s.c.Size())) }
func (s *shard) place(v int64) int64 { return v / int64(s.c.Size()) }
func (s *shard) own() int64          { return s.place(s.n - 1 - int64(s.c.Rank()) + int64(s.c.Size())) }

// link is an edge as one of its ends has it.
type link struct{ Here, There int64 }

// build deals the edges out to both of their ends' owners. Loops are left out. It is collective, and waits.
func build(c *mpi.Comm, n int64, edges []graph.Edge) (*shard, error) {
	s := &shard{c: c, n: n}
	links := make([]link, 0, 2*len(edges))
	for _, e := range edges {
		if e.From != e.To {
			links = append(links, link{int64(e.From), int64(e.To)}, link{int64(e.To), int64(e.From)})
		}
	}
	links, _, err := graph.Deal(c, links, func(l link) int { return s.owner(l.Here) })
	if err != nil {
		return nil, err
	}
	s.begin = make([]int64, s.own()+1)
	for _, l := range links {
		s.begin[s.place(l.Here)+1]++
	}
	for i := range s.own() {
		s.begin[i+1] += s.begin[i]
	}
	next := slices.Clone(s.begin)
	s.neighbour = make([]int64, len(links))
	for _, l := range links {
		s.neighbour[next[s.place(l.Here)]] = l.There
		next[s.place(l.Here)]++
	}
	return s, nil
}

func (s *shard) neighbours(place int64) []int64 { return s.neighbour[s.begin[place]:s.begin[place+1]] }

// root is a vertex with an edge, the same on all ranks.
func (s *shard) root(seed uint64, i int) (int64, error) {
	random := rand.New(rand.NewPCG(seed, uint64(i)))
	for {
		v := random.Int64N(s.n)
		degree := 0
		if s.owner(v) == s.c.Rank() {
			degree = len(s.neighbours(s.place(v)))
		}
		degree, err := mpi.BcastOne(s.c, degree, s.owner(v))
		if err != nil || degree > 0 {
			return v, err
		}
	}
}

// tree is what a search finds: for each vertex of this rank its parent, and its distance from the root.
type tree struct {
	root   int64
	parent []int64 // -1: not reached; the root's is itself
	level  []int64 // -1 likewise
	levels int     // with vertices
}

// bfs searches level by level. A vertex that several ranks meet in one level gets the parent whose message is first.
func (s *shard) bfs(root int64) (*tree, error) {
	t := &tree{root: root, parent: make([]int64, s.own()), level: make([]int64, s.own())}
	for i := range t.parent {
		t.parent[i], t.level[i] = -1, -1
	}
	told := make([]bool, s.n)
	var front []int64 // places
	if s.owner(root) == s.c.Rank() {
		front = append(front, s.place(root))
		t.parent[front[0]], t.level[front[0]] = root, 0
	}
	for {
		all, err := mpi.AllreduceOne(s.c, len(front), mpi.Sum)
		if err != nil || all == 0 {
			return t, err
		}
		t.levels++
		met, _, err := graph.Deal(s.c, s.meet(front, told), func(l link) int { return s.owner(l.Here) })
		if err != nil {
			return nil, err
		}
		front = front[:0]
		for _, l := range met {
			if at := s.place(l.Here); t.level[at] < 0 {
				t.parent[at], t.level[at] = l.There, int64(t.levels)
				front = append(front, at)
			}
		}
	}
}

// meet gives the neighbours of some vertices, with one of the vertices. Each neighbour is met once in a search: told
// has those that were, in this level or before it.
func (s *shard) meet(front []int64, told []bool) (met []link) {
	for _, at := range front {
		v := at*int64(s.c.Size()) + int64(s.c.Rank())
		for _, w := range s.neighbours(at) {
			if !told[w] {
				told[w] = true
				met = append(met, link{Here: w, There: v})
			}
		}
	}
	return met
}
