package core

import (
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/contextid"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/topo"
)

// Topology is the topology of a communicator (chapter 8): one of the three, or none. It does not change.
type Topology struct {
	Cart  *topo.Cart
	Graph *topo.Graph
	Dist  *topo.Dist // of this rank

	near schedule.Neighbours // of the rank
}

// Topology is that of c, which a duplicate has, too.
func (c *Comm) Topology() Topology {
	if c == nil {
		return Topology{}
	}
	if t := c.origin().topology.Load(); t != nil {
		return *t
	}
	return Topology{}
}

// with gives a new communicator its topology; nil stays nil.
func (c *Comm) with(t *Topology, err error) (*Comm, error) {
	if err != nil || c == nil {
		return nil, err
	}
	t.near, err = t.neighbors(c.rank)
	c.topology.Store(t)
	return c, err
}

// neighbors are those of a rank.
func (t *Topology) neighbors(rank int) (near schedule.Neighbours, err error) {
	switch {
	case t.Cart != nil:
		near.From, err = t.Cart.Neighbors(rank)
		near.To, near.Pairs = near.From, true
	case t.Graph != nil:
		near.From, err = t.Graph.Neighbors(rank)
		near.To = near.From
	case t.Dist != nil:
		near.From, near.To = ranksOf(t.Dist.In), ranksOf(t.Dist.Out)
	}
	return near, err
}

// near are the neighbours of the rank in c; nil if c has no topology.
func (c *Comm) near() *schedule.Neighbours {
	if t := c.origin().topology.Load(); t != nil {
		return &t.near
	}
	return nil
}

// Neighbors are the ranks that messages come from and go to in neighbourhood collectives (8.6), in their order. They
// may be ProcNull. Nobody may change the lists. errs.Topology: c has none.
func (c *Comm) Neighbors() (sources, dests []int, err error) {
	if err := c.there("Neighbors"); err != nil {
		return nil, nil, err
	}
	near := c.near()
	if near == nil {
		return nil, nil, c.commErrorf("Neighbors", ": %w: the communicator has none", errs.Topology)
	}
	return near.From, near.To, nil
}

func ranksOf(list []topo.Neighbor) []int {
	ranks := make([]int, len(list))
	for i, n := range list {
		ranks[i] = n.Rank
	}
	return ranks
}

// CreateCart makes a communicator of as many ranks of c as a grid has (8.5.1, MPI_Cart_create). The others get nil.
// They are the first ones of c in their order, unless reorder has ranks that are near in the grid share machines.
// Collective over c; it waits. Errors: errs.Dims where c has too few ranks, ErrComm, ErrContexts, and those of
// communication.
func (c *Comm) CreateCart(cart *topo.Cart, reorder bool) (*Comm, error) {
	const what = "CreateCart"
	if err := c.usableIntra(what); err != nil {
		return nil, err
	}
	if err := cart.Fits(c.Size()); err != nil {
		return nil, c.commErrorf(what, ": %w", err)
	}
	d, err := c.placed(what, cart.Size(), cart, reorder)
	return d.with(&Topology{Cart: cart}, err)
}

// CreateGraph is CreateCart with a graph (8.5.3, MPI_Graph_create). Errors: errs.Arg where c has too few ranks, and
// those of CreateCart.
func (c *Comm) CreateGraph(graph *topo.Graph, reorder bool) (*Comm, error) {
	const what = "CreateGraph"
	if err := c.usableIntra(what); err != nil {
		return nil, err
	}
	if err := graph.Fits(c.Size()); err != nil {
		return nil, c.commErrorf(what, ": %w", err)
	}
	d, err := c.placed(what, graph.Size(), graph, reorder)
	return d.with(&Topology{Graph: graph}, err)
}

// SubCart parts a grid into grids of the dimensions that remain (8.5.6, MPI_Cart_sub). Collective over c; it waits.
// Errors: errs.Topology, errs.Arg, and those of Split.
func (c *Comm) SubCart(remain []bool) (*Comm, error) {
	const what = "SubCart"
	if err := c.checkUsable(what); err != nil {
		return nil, err
	}
	t := c.Topology()
	if t.Cart == nil {
		return nil, c.commErrorf(what, ": %w: the communicator has no grid", errs.Topology)
	}
	sub, color, key, err := t.Cart.Sub(c.rank, remain)
	if err != nil {
		return nil, c.commErrorf(what, ": %w", err)
	}
	d, err := c.split(what, color, key)
	return d.with(&Topology{Cart: sub}, err)
}

// CreateAdjacent makes a duplicate of c with the neighbours that each rank gives (8.5.4,
// MPI_Dist_graph_create_adjacent). Collective over c; it waits. Errors are those of Dup.
func (c *Comm) CreateAdjacent(dist *topo.Dist) (*Comm, error) {
	const what = "CreateDistGraphAdjacent"
	if err := c.usableIntra(what); err != nil {
		return nil, err
	}
	d, err := c.dup(what, contextid.Plain)
	return d.with(&Topology{Dist: dist}, err)
}
