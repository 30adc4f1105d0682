package main

import (
	"fmt"

	"github.com/golci/golci/examples/internal/graph"
	"github.com/golci/golci/mpi"
)

// size of what a search has reached.
type size struct {
	vertices int64
	edges    int64 // with both ends in the tree; equal ones and loops count
}

// validate checks a tree by the rules of Graph500. The levels of the two ends of each edge differ by 1 at most. Both
// ends are in the tree, or none. Each vertex but the root has an edge to its parent, which is one level above. edges
// are the ones that this rank has made. validate is collective, and waits.
func (s *shard) validate(t *tree, edges []graph.Edge) (sum size, err error) {
	levels, err := s.whole(t.level)
	if err != nil {
		return sum, err
	}
	counts := []int64{0, 0}
	for _, e := range edges {
		from, to := levels[e.From], levels[e.To]
		if (from < 0) != (to < 0) || from-to > 1 || to-from > 1 {
			return sum, fmt.Errorf("edge %d to %d joins levels %d and %d", e.From, e.To, from, to)
		}
		if from >= 0 {
			counts[1]++
		}
	}
	for at := range t.parent {
		if t.parent[at] < 0 {
			continue
		}
		counts[0]++
		if err := s.validateParent(t, int64(at), levels); err != nil {
			return sum, err
		}
	}
	err = mpi.Allreduce(s.c, mpi.InPlace(counts), counts, mpi.Sum)
	return size{counts[0], counts[1]}, err
}

func (s *shard) validateParent(t *tree, at int64, levels []int64) error {
	v, parent := at*int64(s.c.Size())+int64(s.c.Rank()), t.parent[at]
	switch {
	case v == t.root && (parent != v || t.level[at] != 0):
		return fmt.Errorf("root %d has parent %d and level %d", v, parent, t.level[at])
	case v == t.root:
		return nil
	case levels[parent]+1 != t.level[at]:
		return fmt.Errorf("vertex %d of level %d has a parent of level %d", v, t.level[at], levels[parent])
	}
	for _, w := range s.neighbours(at) {
		if w == parent {
			return nil
		}
	}
	return fmt.Errorf("vertex %d has no edge to its parent %d", v, parent)
}

// whole gives all ranks' values, by vertex.
func (s *shard) whole(own []int64) ([]int64, error) {
	all, counts, err := mpi.AllgathervAlloc(s.c, own)
	values := make([]int64, s.n)
	begin := 0
	for r, n := range counts {
		for i, x := range all[begin : begin+n] {
			values[i*len(counts)+r] = x
		}
		begin += n
	}
	return values, err
}
