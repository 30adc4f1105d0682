package mpi

import (
	"fmt"

	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/topo"
)

// DimsCreate sets each of dims that is 0, so that their product is n and they differ as little as can be (8.5.2,
// MPI_Dims_create). It is local. Errors: ErrDims where the others do not divide n, or one is negative; ErrArgument for
// n < 1, and for n of 2^31 or more, which MPI's int has not.
func DimsCreate(n int, dims []int) error {
	if err := topo.DimsCreate(n, dims); err != nil {
		return fmt.Errorf("mpi: DimsCreate: %w", sentinel.AddTo(err))
	}
	return nil
}

// Cart is a grid of ranks, in row-major order (8.5.1). It does not change.
type Cart struct {
	c *Comm
	t *topo.Cart
}

// CreateCart makes a communicator of ranks in a grid (8.5.1, MPI_Cart_create). dims is how many there are along each
// dimension. periods tells which dimensions close to rings; nil: none. Ranks of c that are too many get nil. With
// reorder ranks that are near in the grid share machines where possible; else they have the order of c. All ranks give
// the same. Collective over c; it waits. Errors: ErrDims where the grid is larger than c, ErrArgument, ErrComm,
// ErrContexts, and those of communication.
func (c *Comm) CreateCart(dims []int, periods []bool, reorder bool) (*Comm, error) {
	if periods == nil {
		periods = make([]bool, len(dims))
	}
	cart, err := topo.NewCart(dims, periods)
	if err != nil {
		return nil, fmt.Errorf("mpi: CreateCart: %w", sentinel.AddTo(err))
	}
	d, err := c.core().CreateCart(cart, reorder)
	return (*Comm)(d), err
}

// Cart is the grid of a communicator that CreateCart or SubCart has made, or a duplicate of it (8.5.5, MPI_Cart_get).
// ErrTopology: it has none.
func (c *Comm) Cart() (Cart, error) {
	if t := c.core().Topology().Cart; t != nil {
		return Cart{c, t}, nil
	}
	return Cart{}, c.without("Cart")
}

// without is the error of a topology that c does not have.
func (c *Comm) without(what string) error {
	if _, err := c.core().WorldRank(0); err != nil {
		return err
	}
	return fmt.Errorf("mpi: %s: %w: the communicator has no such one", what, ErrTopology)
}

// Dims is how many ranks there are along each dimension, and which dimensions are rings. Nobody may change them.
func (g Cart) Dims() (dims []int, periods []bool) { return g.t.Dims() }

// Coords is where a rank is (8.5.5, MPI_Cart_coords). ErrRank: there is no such rank.
func (g Cart) Coords(rank int) ([]int, error) {
	at, err := g.t.Coords(rank)
	return at, sentinel.AddTo(err)
}

// Rank is the rank at these coordinates (8.5.5, MPI_Cart_rank). In rings they wrap around. ErrArgument: there is none.
func (g Cart) Rank(coords ...int) (int, error) {
	rank, err := g.t.Rank(coords)
	return rank, sentinel.AddTo(err)
}

// Shift is from which rank data comes to the caller, and to which it goes, when all move by disp along a dimension
// (8.5.6, MPI_Cart_shift). Beyond an end that is ProcNull. ErrArgument: there is no such dimension.
func (g Cart) Shift(dim, disp int) (source, dest int, err error) {
	source, dest, err = g.t.Shift(g.c.Rank(), dim, disp)
	return source, dest, sentinel.AddTo(err)
}

// SubCart parts a grid (8.5.7, MPI_Cart_sub): the ranks that differ only in the dimensions that remain have a grid of
// their own. Collective over c; it waits. Errors: ErrTopology, ErrArgument where remain does not tell of each
// dimension, and those of Split.
func (c *Comm) SubCart(remain ...bool) (*Comm, error) {
	d, err := c.core().SubCart(remain)
	return (*Comm)(d), sentinel.AddTo(err)
}

// Graph is a graph of ranks that each of them knows whole (8.5.3). It does not change.
type Graph struct{ t *topo.Graph }

// CreateGraph makes a communicator with a graph (8.5.3, MPI_Graph_create): neighbors[i] are the ranks next to rank i.
// Ranks of c that are too many get nil. reorder is as in CreateCart. All ranks give the same. Collective over c; it
// waits. Errors: ErrArgument where there are more ranks than in c, or no such neighbours, ErrComm, ErrContexts, and
// those of communication.
func (c *Comm) CreateGraph(neighbors [][]int, reorder bool) (*Comm, error) {
	var index, edges []int
	for _, list := range neighbors {
		edges = append(edges, list...)
		index = append(index, len(edges))
	}
	graph, err := topo.NewGraph(index, edges)
	if err != nil {
		return nil, fmt.Errorf("mpi: CreateGraph: %w", sentinel.AddTo(err))
	}
	d, err := c.core().CreateGraph(graph, reorder)
	return (*Comm)(d), sentinel.AddTo(err)
}

// Graph is the graph of a communicator that CreateGraph has made, or a duplicate of it (8.5.5, MPI_Graph_get).
// ErrTopology: it has none.
func (c *Comm) Graph() (Graph, error) {
	if t := c.core().Topology().Graph; t != nil {
		return Graph{t}, nil
	}
	return Graph{}, c.without("Graph")
}

// Size is the number of ranks in g.
func (g Graph) Size() int { return g.t.Size() }

// Neighbors are the ranks next to one (8.5.5, MPI_Graph_neighbors). Nobody may change the list. ErrRank: there is no
// such rank.
func (g Graph) Neighbors(rank int) ([]int, error) {
	list, err := g.t.Neighbors(rank)
	return list, sentinel.AddTo(err)
}

// Edge is an edge of a graph between two ranks. What its weight means is the program's matter; it is not negative.
type Edge struct{ From, To, Weight int }

// Neighbor is a rank next to the caller, with the weight of the edge between them.
type Neighbor struct{ Rank, Weight int }

// DistGraph is what a rank knows of a distributed graph (8.5.4): its own neighbours, in the order of neighbourhood
// collectives. Nobody may change the lists.
type DistGraph struct {
	From, To []Neighbor // whom data comes from, and whom it goes to
	Weighted bool
}

// CreateDistGraph makes a duplicate of c with a graph (8.5.4, MPI_Dist_graph_create). Each rank declares any edges, its
// own or those of others. It learns of those only that begin or end at it: in the order of the ranks that have declared
// them. Weights count if weighted, which is the same on all ranks. Collective over c; it waits. Errors: ErrRank and
// ErrArgument for edges, and those of Dup.
func (c *Comm) CreateDistGraph(edges []Edge, weighted bool) (*Comm, error) {
	sources, degrees, dests := make([]int, len(edges)), make([]int, len(edges)), make([]int, len(edges))
	var weights []int
	for i, e := range edges {
		sources[i], degrees[i], dests[i] = e.From, 1, e.To
		if weighted {
			weights = append(weights, e.Weight)
		}
	}
	list, err := topo.Declare(c.Size(), sources, degrees, dests, weights)
	if err != nil {
		return nil, fmt.Errorf("mpi: CreateDistGraph: %w", sentinel.AddTo(err))
	}
	d, err := c.core().CreateDist(list, weighted)
	return (*Comm)(d), sentinel.AddTo(err)
}

// CreateDistGraphAdjacent is CreateDistGraph where each rank gives its own neighbours, in its order (8.5.4,
// MPI_Dist_graph_create_adjacent). No rank needs to learn of others.
func (c *Comm) CreateDistGraphAdjacent(from, to []Neighbor, weighted bool) (*Comm, error) {
	sources, in := lists(from, weighted)
	dests, out := lists(to, weighted)
	dist, err := topo.Adjacent(c.Size(), sources, in, dests, out)
	if err != nil {
		return nil, fmt.Errorf("mpi: CreateDistGraphAdjacent: %w", sentinel.AddTo(err))
	}
	d, err := c.core().CreateAdjacent(dist)
	return (*Comm)(d), err
}

// lists are the ranks of neighbours, and their weights if there are some.
func lists(all []Neighbor, weighted bool) (ranks, weights []int) {
	ranks = make([]int, len(all))
	if weighted {
		weights = make([]int, len(all))
	}
	for i, n := range all {
		if ranks[i] = n.Rank; weighted {
			weights[i] = n.Weight
		}
	}
	return ranks, weights
}

// DistGraph is the caller's part of the graph of a communicator that CreateDistGraph has made, or a duplicate of it
// (8.5.5, MPI_Dist_graph_neighbors). ErrTopology: it has none.
func (c *Comm) DistGraph() (DistGraph, error) {
	t := c.core().Topology().Dist
	if t == nil {
		return DistGraph{}, c.without("DistGraph")
	}
	return DistGraph{neighborsOf(t.In), neighborsOf(t.Out), t.Weighted}, nil
}

func neighborsOf(list []topo.Neighbor) []Neighbor {
	all := make([]Neighbor, len(list))
	for i, n := range list {
		all[i] = Neighbor(n)
	}
	return all
}

// Neighbors are the ranks that data comes from and goes to in neighbourhood collectives (8.6), in their order. In a
// grid they are for each dimension the one before and the one behind, which may be ProcNull. Nobody may change the
// lists. ErrTopology: c has none.
func (c *Comm) Neighbors() (from, to []int, err error) { return c.core().Neighbors() }
