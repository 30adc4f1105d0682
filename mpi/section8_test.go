package mpi

import (
	"errors"
	"fmt"
	"slices"
)

// fails checks that err matches want; a nil want: that there is none.
func fails(what string, err, want error) error {
	if want == nil && err != nil || want != nil && !errors.Is(err, want) {
		return fmt.Errorf("%s: got %v, want %v", what, err, want)
	}
	return nil
}

// is checks a value.
func is[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%s: %v, want %v", what, got, want)
	}
	return nil
}

// listIs checks a list.
func listIs[T comparable](what string, got, want []T) error {
	if !slices.Equal(got, want) {
		return fmt.Errorf("%s: %v, want %v", what, got, want)
	}
	return nil
}

// grid is a test in a grid of all ranks.
func grid(dims []int, periods []bool, f func(c *Comm, g Cart) error) func(c *Comm) error {
	return func(c *Comm) error {
		d, err := c.CreateCart(dims, periods, false)
		if err != nil || d == nil {
			return err
		}
		g, err := d.Cart()
		if err != nil {
			return err
		}
		return errors.Join(f(d, g), d.Free())
	}
}

// ring is 0, 1, ... n-1 round.
var ring = []bool{true}

// topologyRules are those of grids and graphs (8.5).
func topologyRules() []rule {
	return []rule{
		{"8.5.1", "all ranks are in a grid", 6, grid([]int{2, 3}, nil, func(c *Comm, g Cart) error {
			at, err := g.Coords(c.Rank())
			return errors.Join(err, listIs("coordinates", at, []int{c.Rank() / 3, c.Rank() % 3}))
		})},
		{"8.5.1", "ranks that are too many get nil", 7, func(c *Comm) error {
			d, err := c.CreateCart([]int{2, 3}, nil, false)
			return errors.Join(err, is("no communicator", d == nil, c.Rank() == 6))
		}},
		{"8.5.1", "a grid that is too large", 3, func(c *Comm) error {
			_, err := c.CreateCart([]int{2, 2}, nil, false)
			return fails("CreateCart", err, ErrDims)
		}},
		{"8.5.1", "a dimension of 0", 1, func(c *Comm) error {
			_, err := c.CreateCart([]int{1, 0}, nil, false)
			return fails("CreateCart", err, ErrDims)
		}},
		{"8.5.1", "lists of different lengths", 1, func(c *Comm) error {
			_, err := c.CreateCart([]int{1, 1}, ring, false)
			return fails("CreateCart", err, ErrArgument)
		}},
		{"8.5.1", "no dimensions are one rank", 3, func(c *Comm) error {
			d, err := c.CreateCart(nil, nil, false)
			return errors.Join(err, is("a communicator", d != nil, c.Rank() == 0))
		}},
		{"8.5.1", "reorder on one machine keeps the order", 8, func(c *Comm) error {
			d, err := c.CreateCart([]int{2, 2, 2}, nil, true)
			return errors.Join(err, is("rank", d.Rank(), c.Rank()))
		}},
		{"8.5.1", "a freed communicator", 1, func(c *Comm) error {
			d, err := c.Dup()
			if err != nil {
				return err
			}
			err = d.Free()
			_, bad := d.CreateCart([]int{1}, nil, false)
			return errors.Join(err, fails("CreateCart", bad, ErrComm))
		}},
		{"8.5.2", "twelve nodes in two dimensions", 1, func(*Comm) error {
			d := []int{0, 0}
			return errors.Join(DimsCreate(12, d), listIs("dimensions", d, []int{4, 3}))
		}},
		{"8.5.2", "a dimension that is given stays", 1, func(*Comm) error {
			d := []int{0, 3, 0}
			return errors.Join(DimsCreate(6, d), listIs("dimensions", d, []int{2, 3, 1}))
		}},
		{"8.5.2", "one that does not divide", 1, func(*Comm) error {
			return fails("DimsCreate", DimsCreate(7, []int{0, 3}), ErrDims)
		}},
		{"8.5.2", "no nodes", 1, func(*Comm) error { return fails("DimsCreate", DimsCreate(0, []int{0}), ErrArgument) }},
		{"8.5.3", "neighbours of a graph", 4, func(c *Comm) error {
			d, err := c.CreateGraph([][]int{{1, 3}, {0}, {3}, {0, 2}}, false)
			if err != nil {
				return err
			}
			g, err := d.Graph()
			if err != nil {
				return err
			}
			n, err := g.Neighbors(3)
			return errors.Join(err, listIs("neighbours", n, []int{0, 2}), is("size", g.Size(), 4))
		}},
		{"8.5.3", "a graph that is too large", 2, func(c *Comm) error {
			_, err := c.CreateGraph([][]int{{1}, {0}, {0}}, false)
			return fails("CreateGraph", err, ErrArgument)
		}},
		{"8.5.3", "an edge to no rank", 2, func(c *Comm) error {
			_, err := c.CreateGraph([][]int{{2}, {0}}, false)
			return fails("CreateGraph", err, ErrArgument)
		}},
		{"8.5.3", "a smaller graph", 3, func(c *Comm) error {
			d, err := c.CreateGraph([][]int{{0, 1}, {1, 1}}, true)
			return errors.Join(err, is("no communicator", d == nil, c.Rank() == 2))
		}},
		{"8.5.4", "one rank declares all edges", 5, func(c *Comm) error {
			var edges []Edge
			for r := range 5 * (1 - min(1, c.Rank())) {
				edges = append(edges, Edge{r, (r + 1) % 5, r}, Edge{r, (r + 2) % 5, 10 + r})
			}
			d, err := c.CreateDistGraph(edges, true)
			if err != nil {
				return err
			}
			g, err := d.DistGraph()
			r := c.Rank()
			to := []Neighbor{{(r + 1) % 5, r}, {(r + 2) % 5, 10 + r}}
			return errors.Join(err, listIs("to", g.To, to), is("weighted", g.Weighted, true), is("from", len(g.From), 2))
		}},
		{"8.5.4", "each declares edges of others, in the order of who declares", 7, func(c *Comm) error {
			r := c.Rank()
			d, err := c.CreateDistGraph([]Edge{{(r + 3) % 7, 0, r}, {0, (r + 2) % 7, r}}, true)
			if err != nil {
				return err
			}
			g, err := d.DistGraph()
			if err != nil || r > 0 {
				return errors.Join(err, is("to", len(g.To), 1))
			}
			var from, to []Neighbor
			for w := range 7 {
				// The edge of writer 4 from 0 to 0, and that of writer 5 too, are in both lists.
				from = append(from, Neighbor{(w + 3) % 7, w})
				if (w+3)%7 == 0 {
					to = append(to, Neighbor{0, w})
				}
				if to = append(to, Neighbor{(w + 2) % 7, w}); (w+2)%7 == 0 {
					from = append(from, Neighbor{0, w})
				}
			}
			return errors.Join(listIs("from", g.From, from), listIs("to", g.To, to))
		}},
		{"8.5.4", "many edges", 6, func(c *Comm) error {
			var edges []Edge
			for i := range 3000 {
				edges = append(edges, Edge{i % 6, (i + 1 + c.Rank()) % 6, i})
			}
			d, err := c.CreateDistGraph(edges, false)
			if err != nil {
				return err
			}
			g, err := d.DistGraph()
			return errors.Join(err, is("from", len(g.From), 3000), is("to", len(g.To), 3000),
				is("weight", g.To[17].Weight, 1), is("weighted", g.Weighted, false))
		}},
		{"8.5.4", "an edge to no rank", 1, func(c *Comm) error {
			_, err := c.CreateDistGraph([]Edge{{0, 1, 0}}, false)
			return fails("CreateDistGraph", err, ErrRank)
		}},
		{"8.5.4", "a negative weight", 1, func(c *Comm) error {
			_, err := c.CreateDistGraph([]Edge{{0, 0, -1}}, true)
			return fails("CreateDistGraph", err, ErrArgument)
		}},
		{"8.5.4", "neighbours that each rank gives", 3, func(c *Comm) error {
			from, to := []Neighbor{{(c.Rank() + 2) % 3, 4}}, []Neighbor{{(c.Rank() + 1) % 3, 4}}
			d, err := c.CreateDistGraphAdjacent(from, to, true)
			if err != nil {
				return err
			}
			g, err := d.DistGraph()
			return errors.Join(err, listIs("from", g.From, from), listIs("to", g.To, to))
		}},
		{"8.5.4", "adjacent: no such rank", 1, func(c *Comm) error {
			_, err := c.CreateDistGraphAdjacent([]Neighbor{{5, 1}}, nil, false)
			return fails("CreateDistGraphAdjacent", err, ErrRank)
		}},
		{"8.5.5", "no topology", 1, func(c *Comm) error {
			_, e1 := c.Cart()
			_, e2 := c.Graph()
			_, e3 := c.DistGraph()
			_, _, e4 := c.Neighbors()
			return errors.Join(fails("Cart", e1, ErrTopology), fails("Graph", e2, ErrTopology),
				fails("DistGraph", e3, ErrTopology), fails("Neighbors", e4, ErrTopology))
		}},
		{"8.5.5", "a duplicate has the grid", 2, grid([]int{2}, ring, func(c *Comm, _ Cart) error {
			d, err := c.Dup()
			if err != nil {
				return err
			}
			g, err := d.Cart()
			dims, periods := g.Dims()
			return errors.Join(err, listIs("dimensions", dims, []int{2}), listIs("rings", periods, ring))
		})},
		{"8.5.5", "coordinates wrap in rings", 4, grid([]int{4}, ring, func(_ *Comm, g Cart) error {
			r, err := g.Rank(-1)
			return errors.Join(err, is("rank", r, 3))
		})},
		{"8.5.5", "coordinates outside", 4, grid([]int{4}, nil, func(_ *Comm, g Cart) error {
			_, err := g.Rank(4)
			_, short := g.Rank()
			return errors.Join(fails("Rank", err, ErrArgument), fails("Rank", short, ErrArgument))
		})},
		{"8.5.5", "coordinates of no rank", 2, grid([]int{2}, nil, func(_ *Comm, g Cart) error {
			_, err := g.Coords(2)
			return fails("Coords", err, ErrRank)
		})},
		{"8.5.6", "a shift ends at the border", 3, grid([]int{3}, nil, func(c *Comm, g Cart) error {
			from, to, err := g.Shift(0, 1)
			wantFrom, wantTo := c.Rank()-1, c.Rank()+1
			if wantFrom < 0 {
				wantFrom = ProcNull
			}
			if wantTo > 2 {
				wantTo = ProcNull
			}
			return errors.Join(err, is("from", from, wantFrom), is("to", to, wantTo))
		})},
		{"8.5.6", "a shift goes round", 5, grid([]int{5}, ring, func(c *Comm, g Cart) error {
			from, to, err := g.Shift(0, -7)
			return errors.Join(err, is("from", from, (c.Rank()+7)%5), is("to", to, (c.Rank()+3)%5))
		})},
		{"8.5.6", "a shift along no dimension", 1, grid([]int{1}, nil, func(_ *Comm, g Cart) error {
			_, _, err := g.Shift(1, 1)
			return fails("Shift", err, ErrArgument)
		})},
		{"8.5.7", "rows of a grid", 6, grid([]int{2, 3}, nil, func(c *Comm, _ Cart) error {
			row, err := c.SubCart(false, true)
			if err != nil {
				return err
			}
			g, err := row.Cart()
			dims, _ := g.Dims()
			return errors.Join(err, is("size", row.Size(), 3), is("rank", row.Rank(), c.Rank()%3),
				listIs("dims", dims, []int{3}))
		})},
		{"8.5.7", "a choice of too few dimensions", 1, grid([]int{1, 1}, nil, func(c *Comm, _ Cart) error {
			_, err := c.SubCart(true)
			return fails("SubCart", err, ErrArgument)
		})},
		{"8.5.7", "a part of no grid", 1, func(c *Comm) error {
			_, err := c.SubCart(true)
			return fails("SubCart", err, ErrTopology)
		}},
	}
}
