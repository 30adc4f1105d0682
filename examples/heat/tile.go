package main

import (
	"time"

	"github.com/golci/golci/examples/internal/rank"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi"
)

// tile is a part of the plate and what its thread needs to exchange edges. Its thread alone touches it while it runs.
type tile struct {
	c         *mpi.Comm
	number    int
	now, next plate
	halos     []halo
	requests  []mpi.Request // first the receives, then the sends, in order of halos
}

type halo struct {
	side    side
	peer    int // rank of the neighbour
	inTag   int
	outTag  int
	in, out []float64
}

func newTile(c *mpi.Comm, g grid, number int) *tile {
	y0, y1, x0, x1 := g.area(number)
	t := &tile{c: c, number: number, now: newPlate(y1-y0, x1-x0), next: newPlate(y1-y0, x1-x0)}
	if y0 == 0 {
		t.now.heatUp()
		t.next.heatUp()
	}
	for s := range sides {
		n, ok := g.neighbour(number, s)
		if !ok {
			continue
		}
		t.halos = append(t.halos, halo{
			side: s, peer: g.owner(n), inTag: haloTag(number, s), outTag: haloTag(n, s.opposite()),
			in: make([]float64, t.now.length(s)), out: make([]float64, t.now.length(s)),
		})
	}
	t.requests = make([]mpi.Request, 0, 2*len(t.halos))
	return t
}

// run is the thread of the tile. Messages of one pair and side stay in order, so neighbours agree on nothing else.
func (t *tile) run(steps int) error {
	for range steps {
		if err := t.exchange(); err != nil {
			return err
		}
		t.now.step(t.next)
		t.now, t.next = t.next, t.now
	}
	return nil
}

// exchange brings the border up to date. It waits, and switches threads.
func (t *tile) exchange() error {
	t.requests = t.requests[:0]
	for _, h := range t.halos {
		r, err := mpi.Irecv(t.c, h.in, h.peer, h.inTag)
		if err != nil {
			return err
		}
		t.requests = append(t.requests, r)
	}
	for _, h := range t.halos {
		t.now.edge(h.side, h.out)
		r, err := mpi.Isend(t.c, h.out, h.peer, h.outTag)
		if err != nil {
			return err
		}
		t.requests = append(t.requests, r)
	}
	if err := mpi.Waitall(t.requests, nil); err != nil {
		return err
	}
	for _, h := range t.halos {
		t.now.setBorder(h.side, h.in)
	}
	return nil
}

// compute runs the tiles of this rank. It is collective, waits, and is for goroutines.
func compute(c *mpi.Comm, g grid, steps int) ([]*tile, time.Duration, error) {
	tiles := make([]*tile, g.perRank)
	for i := range tiles {
		tiles[i] = newTile(c, g, c.Rank()*g.perRank+i)
	}
	if err := c.Barrier(); err != nil {
		return nil, 0, err
	}
	begin := time.Now()
	err := rank.Threads(c.Proc(), len(tiles), func(_ *rank.Team, _ *fult.Thread, i int) error {
		return tiles[i].run(steps)
	})
	return tiles, time.Since(begin), err
}
