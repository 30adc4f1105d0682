package main

import "github.com/golci/golci/mpi"

// collect puts the plate together at rank 0; the others get an empty one. It is collective, and waits. The halos have
// all been received, so the tiles of a rank may come under one tag, in order.
func collect(c *mpi.Comm, g grid, tiles []*tile) (plate, error) {
	const tag = 0
	if c.Rank() != 0 {
		for _, t := range tiles {
			if err := mpi.Send(c, t.now.t, 0, tag); err != nil {
				return plate{}, err
			}
		}
		return plate{}, nil
	}
	whole := newPlate(g.n, g.n)
	for _, t := range tiles {
		whole.insert(g, t.number, t.now)
	}
	for number := len(tiles); number < c.Size()*g.perRank; number++ {
		y0, y1, x0, x1 := g.area(number)
		p := newPlate(y1-y0, x1-x0)
		if _, err := mpi.Recv(c, p.t, g.owner(number), tag); err != nil {
			return plate{}, err
		}
		whole.insert(g, number, p)
	}
	return whole, nil
}

// insert copies the inner points of a tile to their place in the whole plate.
func (p plate) insert(g grid, number int, from plate) {
	y0, _, x0, x1 := g.area(number)
	for y := range from.h {
		copy(p.row(y0 + y + 1)[x0:x1], from.row(y+1))
	}
}
