package topo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/golci/golci/mpi/internal/errs"
)

// TestGraph has neighbours once, twice, oneself and none.
func TestGraph(t *testing.T) {
	index, edges := []int{2, 2, 5, 6}, []int{1, 3, 2, 0, 0, 1}
	g := must[*Graph](t)(NewGraph(index, edges))
	index[0], edges[0] = 9, 9
	var listed []Edge
	for rank, want := range [][]int{{1, 3}, {}, {2, 0, 0}, {1}} {
		if got := must[[]int](t)(g.Neighbors(rank)); !slices.Equal(got, want) {
			t.Errorf("neighbours of %d are %v, want %v", rank, got, want)
		}
		for _, to := range want {
			listed = append(listed, Edge{rank, to, 1})
		}
	}
	if got := g.Edges(); !slices.Equal(got, listed) {
		t.Errorf("edges %v, want %v", got, listed)
	}
	i, e := g.Lists()
	if !slices.Equal(i, []int{2, 2, 5, 6}) || !slices.Equal(e, []int{1, 3, 2, 0, 0, 1}) || g.Size() != 4 {
		t.Errorf("lists %v %v of %d", i, e, g.Size())
	}
	for _, rank := range []int{-1, 4} {
		_, err := g.Neighbors(rank)
		expectClass(t, fmt.Sprint("rank ", rank), err, errs.Rank)
	}
	expectClass(t, "three ranks", g.Fits(3), errs.Arg)
	expectClass(t, "four ranks", g.Fits(4), errs.Success)
	for _, c := range [][2][]int{
		{{2, 1}, {0, 0}},
		{{-1, 1}, {0}},
		{{1, 2}, {0}},
		{{1, 2}, {0, 0, 0}},
		{{1, 2}, {0, 2}},
		{{1, 2}, {0, -1}},
	} {
		_, err := NewGraph(c[0], c[1])
		expectClass(t, fmt.Sprint(c), err, errs.Arg)
	}
	if g, err := NewGraph(nil, nil); err != nil || g.Size() != 0 {
		t.Errorf("no ranks: %v", err)
	}
}

// TestDistAgainstMatrix declares a random graph in random pieces on random ranks. Each rank must learn its row and
// column.
func TestDistAgainstMatrix(t *testing.T) {
	r := random(t)
	for range 300 {
		n := 1 + r.IntN(6)
		declared := make([][]Edge, n)
		for rank := range declared {
			declared[rank] = declareRandom(t, r, n)
		}
		mail := make([][][]Edge, n) // to and from
		for to := range mail {
			mail[to] = make([][]Edge, n)
		}
		for from, edges := range declared {
			for to, m := range Mail(edges) {
				mail[to][from] = m
			}
		}
		for rank := range n {
			var in, out []Neighbor
			for _, edges := range declared {
				for _, e := range edges {
					if e.To == rank {
						in = append(in, Neighbor{e.From, e.Weight})
					}
					if e.From == rank {
						out = append(out, Neighbor{e.To, e.Weight})
					}
				}
			}
			d := Gather(rank, mail[rank], n%2 == 0)
			if !slices.Equal(d.In, in) || !slices.Equal(d.Out, out) || d.Weighted != (n%2 == 0) {
				t.Fatalf("%v\nrank %d: %+v, want %v and %v", declared, rank, d, in, out)
			}
			for i, e := range d.Edges(rank) {
				if e != (Edge{rank, out[i].Rank, out[i].Weight}) {
					t.Fatalf("edge %v for %v", e, out[i])
				}
			}
		}
	}
}

// declareRandom makes the arguments of a call and checks what Declare makes of them.
func declareRandom(t *testing.T, r *rand.Rand, n int) []Edge {
	var sources, degrees, dests, weights []int
	var want []Edge
	weighted := r.IntN(2) == 0
	for range r.IntN(4) {
		from, degree := r.IntN(n), r.IntN(3)
		sources, degrees = append(sources, from), append(degrees, degree)
		for range degree {
			to, weight := r.IntN(n), 1
			if weighted {
				weight = r.IntN(9)
				weights = append(weights, weight)
			}
			dests = append(dests, to)
			want = append(want, Edge{from, to, weight})
		}
	}
	got := must[[]Edge](t)(Declare(n, sources, degrees, dests, weights))
	if !slices.Equal(got, want) {
		t.Fatalf("declared %v, want %v", got, want)
	}
	return got
}

// TestDeclareErrors has each error of a declaration.
func TestDeclareErrors(t *testing.T) {
	for _, c := range []struct {
		sources, degrees, dests, weights []int
		class                            errs.Class
	}{
		{[]int{0}, nil, nil, nil, errs.Arg},
		{[]int{0}, []int{-1}, nil, nil, errs.Arg},
		{[]int{0}, []int{2}, []int{1}, nil, errs.Arg},
		{[]int{0}, []int{1}, []int{1, 1}, nil, errs.Arg},
		{[]int{0, 0}, []int{1, 1}, []int{1}, nil, errs.Arg},
		{[]int{0}, []int{1}, []int{1}, []int{}, errs.Arg},
		{[]int{0}, []int{1}, []int{1}, []int{-1}, errs.Arg},
		{[]int{3}, []int{1}, []int{1}, nil, errs.Rank},
		{[]int{3}, []int{0}, nil, nil, errs.Rank},
		{[]int{-1}, []int{1}, []int{1}, nil, errs.Rank},
		{[]int{0}, []int{1}, []int{3}, nil, errs.Rank},
		{[]int{0}, []int{1}, []int{-1}, []int{4}, errs.Rank},
		{[]int{2, 0}, []int{1, 1}, []int{2, 1}, []int{4, 0}, errs.Success},
	} {
		_, err := Declare(3, c.sources, c.degrees, c.dests, c.weights)
		expectClass(t, fmt.Sprint(c), err, c.class)
	}
}

// TestAdjacent keeps the order of the caller, and has weights on both sides or none.
func TestAdjacent(t *testing.T) {
	d := must[*Dist](t)(Adjacent(4, []int{3, 1, 3}, []int{5, 0, 7}, []int{2}, []int{9}))
	if !slices.Equal(d.In, []Neighbor{{3, 5}, {1, 0}, {3, 7}}) || !slices.Equal(d.Out, []Neighbor{{2, 9}}) || !d.Weighted {
		t.Errorf("got %+v", d)
	}
	d = must[*Dist](t)(Adjacent(4, []int{3}, nil, nil, nil))
	if !slices.Equal(d.In, []Neighbor{{3, 1}}) || len(d.Out) != 0 || d.Weighted {
		t.Errorf("without weights: %+v", d)
	}
	none := []int{}
	for _, c := range []struct {
		sources, sourceWeights, dests, destWeights []int
		weighted                                   bool
		class                                      errs.Class
	}{
		{none, none, none, none, true, 0},
		{none, nil, []int{1}, []int{1}, true, 0},
		{[]int{1}, []int{1}, none, nil, true, 0},
		{[]int{1}, nil, []int{1}, []int{1}, false, errs.Topology},
		{[]int{1}, []int{1}, []int{1}, nil, false, errs.Topology},
		{[]int{4}, nil, none, nil, false, errs.Rank},
		{none, nil, []int{-1}, nil, false, errs.Rank},
		{[]int{1}, []int{-2}, none, none, false, errs.Arg},
		{none, none, []int{1}, none, false, errs.Arg},
	} {
		d, err := Adjacent(4, c.sources, c.sourceWeights, c.dests, c.destWeights)
		expectClass(t, fmt.Sprint(c), err, c.class)
		if err == nil && d.Weighted != c.weighted {
			t.Errorf("%v: weighted %t", c, d.Weighted)
		}
	}
}
