package topo

import (
	"fmt"

	"github.com/golci/golci/mpi/internal/errs"
)

// Edge is an edge of a graph. Its weight means what the program says; Reorder takes it for traffic.
type Edge struct{ From, To, Weight int }

// Declare is the edges that one rank declares (MPI_Dist_graph_create, 8.5.4), in that order: degrees[i] edges leave
// sources[i], whose ends and weights are the next of the other lists. weights is nil where the graph has none; all
// edges then weigh 1. errs.Arg: a degree or weight is negative, or the lengths of lists do not fit. errs.Rank: there
// is no such rank among as many as ranks.
func Declare(ranks int, sources, degrees, dests, weights []int) ([]Edge, error) {
	if len(sources) != len(degrees) {
		return nil, fmt.Errorf("%w: %d sources, %d degrees", errs.Arg, len(sources), len(degrees))
	}
	edges := make([]Edge, 0, len(dests))
	for i, from := range sources {
		n := degrees[i]
		if n < 0 || n > len(dests)-len(edges) {
			return nil, fmt.Errorf("%w: degree %d is %d, %d destinations are left", errs.Arg, i, n,
				len(dests)-len(edges))
		}
		for range n {
			edges = append(edges, Edge{from, dests[len(edges)], 1})
		}
		if err := checkRank(from, ranks); err != nil {
			return nil, fmt.Errorf("source %d: %w", i, err)
		}
	}
	if len(edges) != len(dests) {
		return nil, fmt.Errorf("%w: %d destinations, the degrees have the sum %d", errs.Arg, len(dests), len(edges))
	}
	return edges, weigh(ranks, edges, weights)
}

// weigh gives edges their weights, and looks at where they end.
func weigh(ranks int, edges []Edge, weights []int) error {
	if weights != nil && len(weights) != len(edges) {
		return fmt.Errorf("%w: %d edges, %d weights", errs.Arg, len(edges), len(weights))
	}
	for i := range edges {
		if err := checkRank(edges[i].To, ranks); err != nil {
			return fmt.Errorf("destination %d: %w", i, err)
		}
		if weights == nil {
			continue
		}
		if edges[i].Weight = weights[i]; weights[i] < 0 {
			return fmt.Errorf("%w: weight %d is %d", errs.Arg, i, weights[i])
		}
	}
	return nil
}

// Mail tells what a rank that has declared edges must say to whom: for each rank the edges that begin or end there, in
// the order of their declaration. Ranks that are not concerned get nothing. An edge from a rank to itself comes once.
func Mail(edges []Edge) map[int][]Edge {
	mail := make(map[int][]Edge)
	for _, e := range edges {
		mail[e.From] = append(mail[e.From], e)
		if e.To != e.From {
			mail[e.To] = append(mail[e.To], e)
		}
	}
	return mail
}

// Neighbor is one of the neighbours of a rank, with the weight of the edge.
type Neighbor struct{ Rank, Weight int }

// Dist is what a rank knows of a distributed graph: its own neighbours, in the order of neighbourhood collectives.
type Dist struct {
	In, Out  []Neighbor
	Weighted bool // the program gave weights
}

// Gather is the neighbours of a rank, of what all ranks have said to it by Mail, in the order of ranks. So the
// neighbours are ordered by who declared them, then as declared, and duplicates stay. Each call on the same graph
// gives the same order, as the standard demands.
func Gather(rank int, mail [][]Edge, weighted bool) *Dist {
	d := &Dist{Weighted: weighted}
	for _, edges := range mail {
		for _, e := range edges {
			if e.To == rank {
				d.In = append(d.In, Neighbor{e.From, e.Weight})
			}
			if e.From == rank {
				d.Out = append(d.Out, Neighbor{e.To, e.Weight})
			}
		}
	}
	return d
}

// Adjacent is the neighbours of a rank that gives them itself (MPI_Dist_graph_create_adjacent), in its order. Weights
// are nil on both sides, or on none. errs.Topology: they are nil on one side that has neighbours. errs.Arg: a weight is
// negative, or a list of weights has another length. errs.Rank: there is no such rank among as many as ranks.
func Adjacent(ranks int, sources, sourceWeights, dests, destWeights []int) (*Dist, error) {
	if (sourceWeights == nil) != (destWeights == nil) &&
		(sourceWeights == nil && len(sources) > 0 || destWeights == nil && len(dests) > 0) {
		return nil, fmt.Errorf("%w: weights on one side only", errs.Topology)
	}
	in, err := adjacent(ranks, sources, sourceWeights)
	if err != nil {
		return nil, fmt.Errorf("sources: %w", err)
	}
	out, err := adjacent(ranks, dests, destWeights)
	if err != nil {
		return nil, fmt.Errorf("destinations: %w", err)
	}
	return &Dist{in, out, sourceWeights != nil || destWeights != nil}, nil
}

func adjacent(ranks int, list, weights []int) ([]Neighbor, error) {
	edges := make([]Edge, len(list))
	for i, to := range list {
		edges[i] = Edge{0, to, 1}
	}
	if err := weigh(ranks, edges, weights); err != nil {
		return nil, err
	}
	neighbors := make([]Neighbor, len(list))
	for i, e := range edges {
		neighbors[i] = Neighbor{e.To, e.Weight}
	}
	return neighbors, nil
}

// Edges lists the edges that leave a rank, which are all edges if each rank lists its own.
func (d *Dist) Edges(rank int) (edges []Edge) {
	for _, n := range d.Out {
		edges = append(edges, Edge{rank, n.Rank, n.Weight})
	}
	return edges
}
