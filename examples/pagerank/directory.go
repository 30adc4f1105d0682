package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/golci/golci/examples/internal/graph"
	"github.com/golci/golci/mpi"
)

// directory is the ids of all vertices, ascending: the number of a vertex is its place here. Every rank has a copy, 8
// bytes a vertex, which is little beside the edges.
type directory []uint64

// sparse bounds the ratio of the largest id to the number of vertices up to which a table over all ids pays.
const sparse = 8

// numbers returns a function that finds the number of an id, which must be in d.
func (d directory) numbers() func(id uint64) uint32 {
	if largest := d[len(d)-1]; largest/sparse < uint64(len(d)) {
		table := make([]uint32, largest+1)
		for i, id := range d {
			table[id] = uint32(i)
		}
		return func(id uint64) uint32 { return table[id] }
	}
	return func(id uint64) uint32 {
		i, _ := slices.BinarySearch(d, id)
		return uint32(i)
	}
}

func (d directory) check() error {
	if len(d) == 0 {
		return errors.New("the graph has no edges")
	}
	if len(d) > math.MaxUint32 {
		return fmt.Errorf("%d vertices, more than %d", len(d), math.MaxUint32)
	}
	return nil
}

// endpoints is the ids that occur in edges, ascending.
func endpoints(edges []edge) directory {
	largest := uint64(0)
	for _, e := range edges {
		largest = max(largest, e.From, e.To)
	}
	if largest/sparse < uint64(len(edges)) {
		return denseEndpoints(edges, largest)
	}
	ids := make(directory, 0, 2*len(edges))
	for _, e := range edges {
		ids = append(ids, e.From, e.To)
	}
	slices.Sort(ids)
	return slices.Clip(slices.Compact(ids))
}

// denseEndpoints ticks the ids off in a table.
func denseEndpoints(edges []edge, largest uint64) (ids directory) {
	seen := make([]bool, largest+1)
	for _, e := range edges {
		seen[e.From], seen[e.To] = true, true
	}
	for id, yes := range seen {
		if yes {
			ids = append(ids, uint64(id))
		}
	}
	return ids
}

// agree makes the directory of the edges of all ranks. Each id is first sent to a rank that its hash says, which drops
// repetitions; then all get what is left. It is collective, and waits.
func agree(c *mpi.Comm, edges []edge) (directory, error) {
	mine, _, err := graph.Deal(c, endpoints(edges), func(id uint64) int {
		return int(id * 0x9e3779b97f4a7c15 >> 33 % uint64(c.Size()))
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(mine)
	mine = slices.Compact(mine)
	ids, _, err := mpi.AllgathervAlloc(c, mine)
	if err != nil {
		return nil, err
	}
	slices.Sort(ids)
	return ids, directory(ids).check()
}
