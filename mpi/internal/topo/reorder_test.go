package topo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/golci/golci/mpi/internal/errs"
)

// checkPlace has ranks on different processes, and no cut above that of the identity. It returns both cuts.
func checkPlace(t *testing.T, tr *Traffic, nodes, place []int) (now, before int64) {
	t.Helper()
	sorted := slices.Compact(slices.Sorted(slices.Values(place)))
	if len(place) != tr.countRanks() || len(sorted) != len(place) ||
		len(place) > 0 && (sorted[0] < 0 || sorted[len(sorted)-1] >= len(nodes)) {
		t.Fatalf("%d ranks on %d processes: %v", tr.countRanks(), len(nodes), place)
	}
	now, before = tr.cutTraffic(nodes, place), tr.cutTraffic(nodes, identity(tr.countRanks()))
	if now > before {
		t.Fatalf("the cut is %d, that of the identity %d", now, before)
	}
	return now, before
}

// bestCut tries all ways to give ranks processes.
func bestCut(tr *Traffic, nodes, place []int, used []bool) int64 {
	if len(place) == tr.countRanks() {
		return tr.cutTraffic(nodes, place)
	}
	best := int64(1) << 62
	tried := make(map[int]bool)
	for p, node := range nodes {
		if !used[p] && !tried[node] {
			tried[node] = true
			used[p] = true
			best = min(best, bestCut(tr, nodes, append(place, p), used))
			used[p] = false
		}
	}
	return best
}

func identity(n int) []int {
	place := make([]int, n)
	for r := range place {
		place[r] = r
	}
	return place
}

func randomEdges(r *rand.Rand, n, edges int) (list []Edge) {
	for range edges {
		list = append(list, Edge{r.IntN(n), r.IntN(n), r.IntN(4)})
	}
	return list
}

// TestReorderBruteForce compares with the best of all placings of small graphs. The heuristic may miss it, but not
// often.
func TestReorderBruteForce(t *testing.T) {
	r := random(t)
	const rounds = 400
	missed := 0
	for range rounds {
		n := 1 + r.IntN(6)
		nodes := make([]int, n+r.IntN(3))
		for p := range nodes {
			nodes[p] = 7 * r.IntN(3)
		}
		tr := must[*Traffic](t)(NewTraffic(n, randomEdges(r, n, r.IntN(9))))
		hints := [][]int{{0, 1}, randomPart(r, n), nil, {-1}}
		place := must[[]int](t)(Reorder(tr, nodes, hints...))
		now, _ := checkPlace(t, tr, nodes, place)
		best := bestCut(tr, nodes, nil, make([]bool, len(nodes)))
		if now < best {
			t.Fatalf("a cut of %d is less than the least one, %d", now, best)
		}
		if now > best {
			missed++
		}
	}
	t.Logf("%d of %d are not the best", missed, rounds)
	if missed > rounds/20 {
		t.Errorf("%d of %d are not the best", missed, rounds)
	}
}

func randomPart(r *rand.Rand, n int) []int {
	part := make([]int, n)
	for i := range part {
		part[i] = r.IntN(3)
	}
	return part
}

// TestTraffic compares sums with a matrix.
func TestTraffic(t *testing.T) {
	r := random(t)
	for range 100 {
		n := 1 + r.IntN(7)
		edges := randomEdges(r, n, r.IntN(30))
		tr := must[*Traffic](t)(NewTraffic(n, edges))
		sum := make(map[[2]int]int64)
		part := randomPart(r, n)
		var cut int64
		for _, e := range edges {
			sum[[2]int{e.From, e.To}] += int64(e.Weight)
			sum[[2]int{e.To, e.From}] += int64(e.Weight)
			if part[e.From] != part[e.To] {
				cut += int64(e.Weight)
			}
		}
		for a := range n {
			for b := range n {
				if got := tr.between(a, b); a != b && got != sum[[2]int{a, b}] || a == b && got != 0 {
					t.Fatalf("%v: from %d to %d is %d", edges, a, b, got)
				}
			}
		}
		if got := tr.cutWeight(part); got != cut {
			t.Fatalf("%v: the cut of %v is %d, want %d", edges, part, got, cut)
		}
	}
	for _, e := range []Edge{{-1, 0, 1}, {0, 2, 1}, {2, 0, 1}} {
		_, err := NewTraffic(2, []Edge{e})
		expectClass(t, fmt.Sprint(e), err, errs.Rank)
	}
}

// layouts of processes on nodes.
func blocks(n, size int) []int {
	nodes := make([]int, n)
	for p := range nodes {
		nodes[p] = p / size
	}
	return nodes
}

func roundRobin(n, size int) []int {
	nodes := make([]int, n)
	for p := range nodes {
		nodes[p] = p % (n / size)
	}
	return nodes
}

// TestReorderGrids prints how much traffic of usual grids stays between nodes, and asserts what boxes reach.
func TestReorderGrids(t *testing.T) {
	for _, c := range []struct {
		dims  []int
		size  int
		rings bool
		most  int64 // the cut of the best boxes
	}{
		{[]int{16, 16}, 16, false, 96},
		{[]int{16, 16}, 16, true, 128},
		{[]int{8, 8, 8}, 8, false, 576},
		{[]int{8, 8, 8}, 64, false, 192},
		{[]int{32, 32}, 8, false, 704},
		{[]int{64}, 8, true, 8},
		{[]int{12, 10}, 24, false, 44},
	} {
		rings := make([]bool, len(c.dims))
		for i := range rings {
			rings[i] = c.rings
		}
		g := must[*Cart](t)(NewCart(c.dims, rings))
		tr := must[*Traffic](t)(NewTraffic(g.Size(), g.Edges()))
		for name, nodes := range map[string][]int{
			"blocks": blocks(g.Size(), c.size), "round robin": roundRobin(g.Size(), c.size),
		} {
			plain, before := checkPlace(t, tr, nodes, must[[]int](t)(Reorder(tr, nodes)))
			boxes, _ := checkPlace(t, tr, nodes, must[[]int](t)(Reorder(tr, nodes, g.Tiles(c.size)...)))
			t.Logf("%v rings %t, %d a node, %s: %d of %d edges cut; now %d, without boxes %d", c.dims, c.rings, c.size,
				name, before, len(g.Edges()), boxes, plain)
			if boxes != c.most {
				t.Errorf("the cut is %d, want %d", boxes, c.most)
			}
			if boxes < before && plain > before*9/10 {
				t.Errorf("without boxes the cut is %d, was %d", plain, before)
			}
		}
	}
}

// TestReorderGraphs prints the same for graphs without a grid: clusters that are spread over the ranks, and points that
// are near each other.
func TestReorderGraphs(t *testing.T) {
	r := random(t)
	const n, size = 256, 16
	clusters := make([]Edge, 0, n*8)
	perm := r.Perm(n)
	for i := range n {
		for range 6 {
			clusters = append(clusters, Edge{perm[i], perm[i/size*size+r.IntN(size)], 1})
		}
		clusters = append(clusters, Edge{perm[i], r.IntN(n), 1})
	}
	var near []Edge
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], y[i] = r.Float64(), r.Float64()
		for j := range i {
			if dx, dy := x[i]-x[j], y[i]-y[j]; dx*dx+dy*dy < 0.01 {
				near = append(near, Edge{i, j, 1})
			}
		}
	}
	for name, edges := range map[string][]Edge{"clusters": clusters, "near points": near} {
		tr := must[*Traffic](t)(NewTraffic(n, edges))
		nodes := blocks(n, size)
		now, before := checkPlace(t, tr, nodes, must[[]int](t)(Reorder(tr, nodes)))
		t.Logf("%s: of %d edges %d are cut, now %d", name, len(edges), before, now)
		if 2*now > before {
			t.Errorf("%s: the cut is %d, was %d", name, now, before)
		}
	}
}

// TestReorderEnds has no ranks, too many, and nothing to gain.
func TestReorderEnds(t *testing.T) {
	none := must[*Traffic](t)(NewTraffic(0, nil))
	if place, err := Reorder(none, nil); err != nil || len(place) != 0 {
		t.Errorf("no ranks: %v, %v", place, err)
	}
	two := must[*Traffic](t)(NewTraffic(2, []Edge{{0, 1, 1}}))
	_, err := Reorder(two, []int{0})
	expectClass(t, "two ranks on one process", err, errs.Topology)
	if place := must[[]int](t)(Reorder(two, []int{1, 0, 1})); !slices.Equal(place, []int{0, 2}) {
		t.Errorf("two ranks that talk are on processes %v", place)
	}
	if place := must[[]int](t)(Reorder(two, []int{1, 0})); !slices.Equal(place, []int{0, 1}) {
		t.Errorf("without gain the processes are %v", place)
	}
}

// TestRefined has no step left that lowers the cut.
func TestRefined(t *testing.T) {
	r := random(t)
	for range 100 {
		n := 20 + r.IntN(20)
		tr := must[*Traffic](t)(NewTraffic(n, randomEdges(r, n, 4*n)))
		m := newMachine(blocks(n+4, 5))
		part := m.filled(n)
		before := tr.cutWeight(part)
		refine(tr, part, m)
		f := newRefiner(tr, part, m)
		for rank := range n {
			if after := tr.cutWeight(part); f.improve(rank) || after > before {
				t.Fatalf("the cut was %d, is %d, and falls to %d", before, after, tr.cutWeight(part))
			}
		}
	}
}

// TestHints gives the fullest part to the largest node, and refuses what does not fit.
func TestHints(t *testing.T) {
	m := newMachine([]int{7, 5, 5, 5, 9, 9})
	for _, c := range []struct{ hint, want []int }{
		{[]int{0, 1, 1, 1}, []int{1, 0, 0, 0}},
		{[]int{2, 2, 1, 0}, []int{0, 0, 2, 1}},
		{[]int{0, 0, 0, 0}, nil},
		{[]int{0, 1, 2, 3}, nil},
		{[]int{0, 1, -1, 2}, nil},
		{[]int{0, 1, 1}, nil},
	} {
		if got, ok := m.fitsParts(4, c.hint); ok != (c.want != nil) || !slices.Equal(got, c.want) {
			t.Errorf("%v fits as %v, %t; want %v", c.hint, got, ok, c.want)
		}
	}
}

// TestTiles counts boxes, and has all of one size.
func TestTiles(t *testing.T) {
	c := must[*Cart](t)(NewCart([]int{4, 6}, make([]bool, 2)))
	for size, want := range map[int]int{1: 1, 2: 2, 4: 2, 6: 2, 5: 0, 8: 1, 24: 1, 48: 0} {
		hints := c.Tiles(size)
		if len(hints) != want {
			t.Errorf("boxes of %d: %d, want %d", size, len(hints), want)
		}
		for _, part := range hints {
			count := make(map[int]int)
			for _, p := range part {
				count[p]++
			}
			for p, n := range count {
				if n != size || p < 0 || p >= 24/size {
					t.Errorf("boxes of %d: box %d has %d ranks", size, p, n)
				}
			}
		}
	}
}
