package core

import (
	"slices"

	"github.com/golci/golci/mpi/internal/topo"
)

// placed makes a communicator of n ranks of c for a topology: the first ones, or those that topo.Reorder chooses.
func (c *Comm) placed(what string, n int, t interface{ Edges() []topo.Edge }, reorder bool) (*Comm, error) {
	rank := c.rank
	if reorder {
		place, err := c.reordered(what, n, t)
		if err != nil {
			return nil, c.dressed(what, err)
		}
		rank = slices.Index(place, c.rank)
	}
	color := 0
	if rank < 0 || rank >= n {
		color = Undefined
	}
	return c.split(what, color, rank)
}

// reordered is the rank of c for each of n ranks of a topology.
func (c *Comm) reordered(what string, n int, t interface{ Edges() []topo.Edge }) ([]int, error) {
	machines, err := c.meeting(what).gather(c.proc.machineName())
	if err != nil {
		return nil, err
	}
	nodes, sizes := make([]int, len(machines)), make(map[int]int)
	for i, m := range machines {
		nodes[i] = slices.Index(machines, m)
		sizes[nodes[i]]++
	}
	traffic, err := topo.NewTraffic(n, t.Edges())
	if err != nil {
		return nil, err
	}
	return topo.Reorder(traffic, nodes, tiles(t, sizes[0])...)
}

// tiles are the ways to cut a grid into boxes of that size; other topologies have none.
func tiles(t any, size int) [][]int {
	if cart, ok := t.(*topo.Cart); ok {
		return cart.Tiles(size)
	}
	return nil
}
