package mpitest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/golci/golci/mpi"
)

// keep keeps a communicator that a step has made, and checks who is in it.
func (a *actor) keep(s site, c *mpi.Comm, g *group) error {
	if c == nil {
		return s.wrong("make", errors.New("no communicator"))
	}
	g.c = c
	a.comms[s.step.Made] = g
	if c.Size() != len(g.local) || c.Rank() != placeOf(g.local, a.me) {
		return s.wrong("make", fmt.Errorf("rank %d of %d, want %d of %d", c.Rank(), c.Size(),
			placeOf(g.local, a.me), len(g.local)))
	}
	return nil
}

// draw draws some ranks of g in a random order, one at least.
func draw(r *rand.Rand, g *group) []int { return r.Perm(len(g.local))[:1+r.IntN(len(g.local))] }

// of translates ranks of g to ranks of the world.
func (g *group) of(ranks []int) []int {
	out := make([]int, len(ranks))
	for i, x := range ranks {
		out[i] = g.local[x]
	}
	return out
}

func (a *actor) makeComm(s site, g *group, r *rand.Rand) error {
	switch r.IntN(5) {
	case 0:
		c, err := g.c.Dup()
		if err != nil {
			return s.wrong("Dup", err)
		}
		return a.keep(s, c, &group{local: g.local})
	case 1:
		c, q, err := g.c.Idup()
		if err == nil {
			_, err = q.Wait()
		}
		if err != nil {
			return s.wrong("Idup", err)
		}
		return a.keep(s, c, &group{local: g.local})
	case 2:
		return a.split(s, g, r)
	}
	ranks, alone := draw(r, g), r.IntN(2) == 0
	mine := slices.Contains(ranks, g.index())
	all, err := g.c.Group()
	if err != nil {
		return s.wrong("Group", err)
	}
	some, err := all.Incl(ranks...)
	if err != nil {
		return s.wrong("Incl", err)
	}
	var c *mpi.Comm
	switch {
	case alone && mine:
		c, err = g.c.CreateGroup(some, r.IntN(8))
	case !alone:
		c, err = g.c.Create(some)
	}
	if err != nil || !mine {
		return s.wrong("Create", err)
	}
	return a.keep(s, c, &group{local: g.of(ranks)})
}

func (a *actor) split(s site, g *group, r *rand.Rand) error {
	n := len(g.local)
	colors, keys := make([]int, n), make([]int, n)
	for i := range n {
		colors[i], keys[i] = r.IntN(3), r.IntN(5)
		if r.IntN(8) == 0 {
			colors[i] = mpi.Undefined
		}
	}
	me := g.index()
	c, err := g.c.Split(colors[me], keys[me])
	if err != nil || colors[me] == mpi.Undefined {
		return s.wrong("Split", err)
	}
	var ranks []int
	for i := range n {
		if colors[i] == colors[me] {
			ranks = append(ranks, i)
		}
	}
	slices.SortStableFunc(ranks, func(x, y int) int { return keys[x] - keys[y] })
	return a.keep(s, c, &group{local: g.of(ranks)})
}

// makeInter makes an inter-communicator of two parts of g, or of both of them the communicator of all.
func (a *actor) makeInter(s site, g *group, r *rand.Rand) error {
	n := len(g.local)
	if n < 2 {
		return nil
	}
	order, cut := r.Perm(n), 1+r.IntN(n-1)
	parts := [2][]int{order[:cut], order[cut:]}
	leaders := [2]int{r.IntN(cut), r.IntN(n - cut)}
	merge, tag := r.IntN(3) == 0, r.IntN(100)
	side := 0
	if slices.Contains(parts[1], g.index()) {
		side = 1
	}
	half, err := g.c.Split(side, placeOf(parts[side], g.index()))
	if err != nil {
		return s.wrong("Split", err)
	}
	inter, err := half.CreateInter(leaders[side], g.c, parts[1-side][leaders[1-side]], tag)
	if err = errors.Join(err, half.Free()); err != nil {
		return s.wrong("CreateInter", err)
	}
	both := &group{local: g.of(parts[side]), remote: g.of(parts[1-side])}
	if !merge {
		return a.keep(s, inter, both)
	}
	c, err := inter.Merge(side == 1)
	if err = errors.Join(err, inter.Free()); err != nil {
		return s.wrong("Merge", err)
	}
	return a.keep(s, c, &group{local: g.of(order)})
}

// makeTopology makes a grid, or a graph with random edges.
func (a *actor) makeTopology(s site, g *group, r *rand.Rand) error {
	n := len(g.local)
	t := &group{local: g.local, in: make([][]edge, n), out: make([][]edge, n)}
	if r.IntN(2) == 0 {
		dims, periods := []int{0, 0}, []bool{r.IntN(2) == 0, r.IntN(2) == 0}
		if err := mpi.DimsCreate(n, dims); err != nil {
			return s.wrong("DimsCreate", err)
		}
		for i := range n {
			t.in[i] = gridEdges(i, dims, periods)
		}
		t.out = t.in
		c, err := g.c.CreateCart(dims, periods, false)
		if err != nil {
			return s.wrong("CreateCart", err)
		}
		return a.keep(s, c, t)
	}
	for from := range n {
		for to := range n {
			if r.IntN(2) == 0 {
				t.out[from] = append(t.out[from], edge{to, len(t.in[to])})
				t.in[to] = append(t.in[to], edge{from, len(t.out[from]) - 1})
			}
		}
	}
	me := g.index()
	c, err := g.c.CreateDistGraphAdjacent(neighbors(t.in[me]), neighbors(t.out[me]), false)
	if err != nil {
		return s.wrong("CreateDistGraphAdjacent", err)
	}
	return a.keep(s, c, t)
}

func neighbors(list []edge) []mpi.Neighbor {
	out := make([]mpi.Neighbor, len(list))
	for i, e := range list {
		out[i].Rank = e.rank
	}
	return out
}

// gridEdges are the neighbours of a place in a grid of two dimensions: in each the one before and the one behind. What
// comes from the one before is what that one has sent to the one behind it.
func gridEdges(at int, dims []int, periods []bool) []edge {
	var out []edge
	place := [2]int{at / dims[1], at % dims[1]}
	for d := range 2 {
		for k, step := range []int{-1, 1} {
			to := place
			to[d] += step
			if to[d] < 0 || to[d] >= dims[d] {
				if !periods[d] {
					out = append(out, edge{-1, 0})
					continue
				}
				to[d] = (to[d] + dims[d]) % dims[d]
			}
			out = append(out, edge{to[0]*dims[1] + to[1], 2*d + 1 - k})
		}
	}
	return out
}
