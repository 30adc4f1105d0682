package topo

import (
	"fmt"
	"slices"

	"github.com/golci/golci/mpi/internal/errs"
)

// Graph is a graph that every rank knows whole (8.5.3). It does not change. Ranks may be their own neighbours, or
// neighbours more than once, and need not be neighbours of their neighbours.
type Graph struct{ index, edges []int }

// NewGraph is a graph of as many ranks as index has numbers. index[i] is how many neighbours the ranks up to i have,
// edges lists the neighbours of each rank in turn. errs.Arg: the numbers are negative or decrease, edges has another
// length than the last one, or an edge ends at no rank.
func NewGraph(index, edges []int) (*Graph, error) {
	last := 0
	for i, n := range index {
		if n < last {
			return nil, fmt.Errorf("%w: the index of rank %d is %d, that before it %d", errs.Arg, i, n, last)
		}
		last = n
	}
	if last != len(edges) {
		return nil, fmt.Errorf("%w: the index ends with %d, there are %d edges", errs.Arg, last, len(edges))
	}
	for i, to := range edges {
		if to < 0 || to >= len(index) {
			return nil, fmt.Errorf("%w: edge %d ends at %d of %d ranks", errs.Arg, i, to, len(index))
		}
	}
	return &Graph{slices.Clone(index), slices.Clone(edges)}, nil
}

// Size is the number of ranks.
func (g *Graph) Size() int { return len(g.index) }

// Lists is the arguments of NewGraph (MPI_Graph_get, MPI_Graphdims_get). Nobody may change them.
func (g *Graph) Lists() (index, edges []int) { return g.index, g.edges }

// Fits tells whether a communicator has ranks enough for the graph; the others get none. errs.Arg: it has not.
func (g *Graph) Fits(ranks int) error {
	if len(g.index) > ranks {
		return fmt.Errorf("%w: a graph of %d, %d ranks", errs.Arg, len(g.index), ranks)
	}
	return nil
}

// Neighbors is the neighbours of a rank in the order of the edges (MPI_Graph_neighbors), which is also that of
// neighbourhood collectives. Nobody may change the list. errs.Rank: there is no such rank.
func (g *Graph) Neighbors(rank int) ([]int, error) {
	if err := checkRank(rank, len(g.index)); err != nil {
		return nil, err
	}
	first := 0
	if rank > 0 {
		first = g.index[rank-1]
	}
	return g.edges[first:g.index[rank]], nil
}

// Edges lists the edges.
func (g *Graph) Edges() (edges []Edge) {
	first := 0
	for rank, end := range g.index {
		for _, to := range g.edges[first:end] {
			edges = append(edges, Edge{rank, to, 1})
		}
		first = end
	}
	return edges
}
