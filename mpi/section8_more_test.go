package mpi

import (
	"errors"
	"fmt"
)

// dimsRule is a choice of dimensions (8.5.2).
func dimsRule(n int, dims, want []int) rule {
	return rule{"8.5.2", fmt.Sprintf("%d nodes in %v", n, dims), 1, func(*Comm) error {
		d := append([]int(nil), dims...)
		return errors.Join(DimsCreate(n, d), listIs("dimensions", d, want))
	}}
}

// gridRules are more of grids: places, shifts and parts (8.5).
func gridRules() []rule {
	rules := []rule{
		dimsRule(6, []int{0, 0}, []int{3, 2}), dimsRule(7, []int{0, 0}, []int{7, 1}),
		dimsRule(8, []int{0, 0, 0}, []int{2, 2, 2}),
		dimsRule(24, []int{0, 2, 0}, []int{4, 2, 3}), dimsRule(1, []int{0, 0}, []int{1, 1}),
		dimsRule(36, []int{0, 0}, []int{6, 6}),
		dimsRule(6, []int{2, 3}, []int{2, 3}), dimsRule(60, []int{0, 0, 0}, []int{5, 4, 3}),
		{"8.5.5", "a grid tells its shape", 6, grid([]int{3, 2}, []bool{true, false}, func(_ *Comm, g Cart) error {
			dims, periods := g.Dims()
			return errors.Join(listIs("dimensions", dims, []int{3, 2}), listIs("rings", periods, []bool{true, false}))
		})},
		{"8.5.5", "ranks and places are each other's inverse", 8, grid([]int{2, 2, 2}, nil, func(c *Comm, g Cart) error {
			var err error
			for r := range c.Size() {
				at, bad := g.Coords(r)
				back, worse := g.Rank(at...)
				err = errors.Join(err, bad, worse, is("rank", back, r))
			}
			return err
		})},
		{"8.5.5", "too few coordinates", 4, grid([]int{2, 2}, nil, func(_ *Comm, g Cart) error {
			_, err := g.Rank(1)
			return fails("Rank", err, ErrArgument)
		})},
		{"8.5.6", "a shift by more than the ring", 3, grid([]int{3}, ring, func(c *Comm, g Cart) error {
			from, to, err := g.Shift(0, 4)
			return errors.Join(err, is("from", from, left(c)), is("to", to, right(c)))
		})},
		{"8.5.6", "a shift backwards", 4, grid([]int{4}, ring, func(c *Comm, g Cart) error {
			from, to, err := g.Shift(0, -1)
			return errors.Join(err, is("from", from, right(c)), is("to", to, left(c)))
		})},
		{"8.5.6", "a shift by nothing", 2, grid([]int{2}, nil, func(c *Comm, g Cart) error {
			from, to, err := g.Shift(0, 0)
			return errors.Join(err, is("from", from, c.Rank()), is("to", to, c.Rank()))
		})},
		{"8.5.6", "data moves along a shift", 6, grid([]int{2, 3}, []bool{false, true}, func(c *Comm, g Cart) error {
			from, to, err := g.Shift(1, 1)
			b := make([]int, 1)
			_, bad := Sendrecv(c, []int{c.Rank()}, to, 0, b, from, 0)
			return errors.Join(err, bad, is("message", b[0], from))
		})},
		{"8.5.7", "columns of a grid", 6, grid([]int{2, 3}, nil, func(c *Comm, _ Cart) error {
			d, err := c.SubCart(true, false)
			if err != nil {
				return err
			}
			return errors.Join(is("size", d.Size(), 2), is("rank", d.Rank(), c.Rank()/3), sumOf(d), d.Free())
		})},
		{"8.5.7", "a part of no dimensions", 4, grid([]int{2, 2}, nil, func(c *Comm, _ Cart) error {
			d, err := c.SubCart(false, false)
			return errors.Join(err, is("size", d.Size(), 1), d.Free())
		})},
		{"8.5.7", "a part keeps its rings", 4, grid([]int{2, 2}, []bool{false, true}, func(c *Comm, _ Cart) error {
			d, err := c.SubCart(false, true)
			if err != nil {
				return err
			}
			g, err := d.Cart()
			_, periods := g.Dims()
			return errors.Join(err, listIs("rings", periods, ring), d.Free())
		})},
		{"8.5.1", "a grid has collectives", 7, func(c *Comm) error {
			d, err := c.CreateCart([]int{7}, ring, true)
			return errors.Join(err, sumOf(d), d.Free())
		}},
		{"8.6", "neighbours in a grid", 4, grid([]int{2, 2}, []bool{true, false}, func(c *Comm, g Cart) error {
			from, to, err := c.Neighbors()
			var want []int
			for dim := range 2 {
				before, behind, bad := g.Shift(dim, 1)
				want, err = append(want, before, behind), errors.Join(err, bad)
			}
			return errors.Join(err, listIs("from", from, want), listIs("to", to, want))
		})},
		{"8.6", "neighbours in a graph", 3, func(c *Comm) error {
			d, err := c.CreateGraph([][]int{{1, 2}, {0}, {0}}, false)
			if err != nil {
				return err
			}
			from, to, err := d.Neighbors()
			want := [][]int{{1, 2}, {0}, {0}}[c.Rank()]
			return errors.Join(err, listIs("from", from, want), listIs("to", to, want), d.Free())
		}},
		{"8.5.3", "ranks that a graph leaves out", 5, func(c *Comm) error {
			d, err := c.CreateGraph([][]int{{1}, {0}}, false)
			if c.Rank() > 1 || err != nil {
				return errors.Join(err, is("none", d == nil, true))
			}
			return errors.Join(sumOf(d), d.Free())
		}},
		{"8.5.3", "a rank may be next to itself", 2, func(c *Comm) error {
			d, err := c.CreateGraph([][]int{{0, 1, 1}, {0}}, false)
			if err != nil {
				return err
			}
			g, err := d.Graph()
			n, bad := g.Neighbors(0)
			return errors.Join(err, bad, listIs("neighbours", n, []int{0, 1, 1}), d.Free())
		}},
		{"8.5.3", "neighbours of no rank", 2, func(c *Comm) error {
			d, err := c.CreateGraph([][]int{{1}, {0}}, false)
			if err != nil {
				return err
			}
			g, err := d.Graph()
			_, bad := g.Neighbors(2)
			return errors.Join(err, fails("Neighbors", bad, ErrRank), d.Free())
		}},
	}
	for n := 2; n <= 8; n++ {
		rules = append(rules, rule{"8.5.4", fmt.Sprintf("one rank declares the ring of %d", n), n, func(c *Comm) error {
			var edges []Edge
			if c.Rank() == c.Size()-1 {
				for r := range c.Size() {
					edges = append(edges, Edge{From: r, To: (r + 1) % c.Size()})
				}
			}
			d, err := c.CreateDistGraph(edges, false)
			if err != nil {
				return err
			}
			from, to, err := d.Neighbors()
			return errors.Join(err, listIs("from", from, []int{left(c)}), listIs("to", to, []int{right(c)}), d.Free())
		}})
	}
	return rules
}
