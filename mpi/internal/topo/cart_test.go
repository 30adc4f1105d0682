package topo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/golci/golci/mpi/internal/errs"
)

func random(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func must[T any](t *testing.T) func(x T, err error) T {
	return func(x T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

func expectClass(t *testing.T, what string, err error, want errs.Class) {
	t.Helper()
	if errs.Of(err) != want {
		t.Errorf("%s: %v, want class %d", what, err, int(want))
	}
}

func randomCart(t *testing.T, r *rand.Rand) (c *Cart, dims []int, periods []bool) {
	for range r.IntN(5) {
		dims = append(dims, 1+r.IntN(4))
		periods = append(periods, r.IntN(2) == 0)
	}
	return must[*Cart](t)(NewCart(dims, periods)), dims, periods
}

// TestCartAgainstWalk compares with a walk over all coordinates, the last one fastest.
func TestCartAgainstWalk(t *testing.T) {
	r := random(t)
	for range 300 {
		c, dims, periods := randomCart(t, r)
		coords := make([]int, len(dims))
		for rank := range c.Size() {
			if got := must[[]int](t)(c.Coords(rank)); !slices.Equal(got, coords) {
				t.Fatalf("rank %d of %v is at %v, want %v", rank, dims, got, coords)
			}
			around := slices.Clone(coords)
			for i, d := range dims {
				if periods[i] {
					around[i] += (r.IntN(5) - 2) * d
				}
			}
			if got := must[int](t)(c.Rank(around)); got != rank {
				t.Fatalf("at %v of %v is rank %d, want %d", around, dims, got, rank)
			}
			checkShifts(t, r, c, rank)
			for i := len(dims) - 1; i >= 0; i-- {
				if coords[i]++; coords[i] < dims[i] {
					break
				}
				coords[i] = 0
			}
		}
		if slices.Max(append(coords, 0)) != 0 {
			t.Fatalf("the walk through %v ends at %v", dims, coords)
		}
	}
}

func checkShifts(t *testing.T, r *rand.Rand, c *Cart, rank int) {
	dims, _ := c.Dims()
	coords := must[[]int](t)(c.Coords(rank))
	at := func(dim, disp int) int {
		to := slices.Clone(coords)
		to[dim] += disp
		rank, err := c.Rank(to)
		if err != nil {
			return ProcNull
		}
		return rank
	}
	var around []int
	for dim := range dims {
		around = append(around, at(dim, -1), at(dim, 1))
		disp := r.IntN(15) - 7
		source, dest, err := c.Shift(rank, dim, disp)
		if err != nil || source != at(dim, -disp) || dest != at(dim, disp) {
			t.Fatalf("shift of %v in %v by %d along %d: %d, %d, %v", coords, dims, disp, dim, source, dest, err)
		}
	}
	if got := must[[]int](t)(c.Neighbors(rank)); !slices.Equal(got, around) {
		t.Fatalf("neighbours of %v in %v are %v, want %v", coords, dims, got, around)
	}
}

// TestCartSub checks parts: ranks of one color have all keys once, and key is the rank in the part.
func TestCartSub(t *testing.T) {
	r := random(t)
	for range 200 {
		c, dims, periods := randomCart(t, r)
		remain := make([]bool, len(dims))
		var left []int
		var rings []bool
		for i := range remain {
			if remain[i] = r.IntN(2) == 0; remain[i] {
				left, rings = append(left, dims[i]), append(rings, periods[i])
			}
		}
		seen := make(map[string]bool)
		for rank := range c.Size() {
			sub, color, key, err := c.Sub(rank, remain)
			if err != nil {
				t.Fatal(err)
			}
			if d, p := sub.Dims(); !slices.Equal(d, left) || !slices.Equal(p, rings) || key >= sub.Size() ||
				color >= c.Size()/sub.Size() {
				t.Fatalf("%v of %v: %v %v, color %d, key %d", remain, dims, d, p, color, key)
			}
			id := fmt.Sprint(color, " ", key)
			if seen[id] {
				t.Fatalf("%v of %v: twice color and key %s", remain, dims, id)
			}
			seen[id] = true
			whole, part := must[[]int](t)(c.Coords(rank)), must[[]int](t)(sub.Coords(key))
			for i, keep := range remain {
				if keep {
					if whole[i] != part[0] {
						t.Fatalf("%v of %v at %v: in the part %v", remain, dims, whole, part)
					}
					part = part[1:]
				}
			}
		}
	}
}

// TestCartEnds has displacements that overflow, and grids without dimensions.
func TestCartEnds(t *testing.T) {
	c := must[*Cart](t)(NewCart([]int{3, 4}, []bool{true, false}))
	for _, c2 := range []struct{ disp, source, dest int }{
		{math.MaxInt, 9, 9}, {math.MinInt, 9, 9}, {0, 5, 5}, {1, 1, 9}, {-1, 9, 1}, {-3, 5, 5},
	} {
		want := [2]int{c2.source, c2.dest}
		if c2.disp == math.MaxInt || c2.disp == math.MinInt {
			by := c2.disp % 3
			want = [2]int{wrap(1-by, 3)*4 + 1, wrap(1+by, 3)*4 + 1}
		}
		source, dest, err := c.Shift(5, 0, c2.disp)
		if err != nil || [2]int{source, dest} != want {
			t.Errorf("by %d along the ring: %d, %d, %v; want %d", c2.disp, source, dest, err, want)
		}
	}
	for _, c2 := range []struct{ disp, source, dest int }{
		{math.MaxInt, ProcNull, ProcNull}, {math.MinInt, ProcNull, ProcNull}, {1, 4, 6}, {2, ProcNull, 7}, {-2, 7, ProcNull},
	} {
		if source, dest, err := c.Shift(5, 1, c2.disp); err != nil || source != c2.source || dest != c2.dest {
			t.Errorf("by %d along the line: %d, %d, %v", c2.disp, source, dest, err)
		}
	}
	point := must[*Cart](t)(NewCart(nil, nil))
	rank, err := point.Rank(nil)
	coords, err2 := point.Coords(0)
	if point.Size() != 1 || rank != 0 || err != nil || len(coords) != 0 || err2 != nil {
		t.Errorf("a point has %d ranks; %d, %v, %v, %v", point.Size(), rank, err, coords, err2)
	}
	if sub, color, key, err := point.Sub(0, nil); sub.Size() != 1 || color != 0 || key != 0 || err != nil {
		t.Errorf("the part of a point: %v, %d, %d, %v", sub, color, key, err)
	}
	_, _, err = point.Shift(0, 0, 1)
	expectClass(t, "shift of a point", err, errs.Topology)
}

// TestCartEdges has each pair of neighbours once, and nobody beside himself. The grid keeps no list of the caller.
func TestCartEdges(t *testing.T) {
	dims, periods := []int{2, 3, 1}, []bool{false, true, true}
	c := must[*Cart](t)(NewCart(dims, periods))
	dims[0], periods[1] = 9, false
	want := []Edge{{0, 3, 1}, {0, 1, 1}, {1, 4, 1}, {1, 2, 1}, {2, 5, 1}, {2, 0, 1}, {3, 4, 1}, {4, 5, 1}, {5, 3, 1}}
	if got := c.Edges(); !slices.Equal(got, want) {
		t.Errorf("edges are %v, want %v", got, want)
	}
}

// TestCartErrors has each error of the grid.
func TestCartErrors(t *testing.T) {
	c := must[*Cart](t)(NewCart([]int{3, 4}, []bool{true, false}))
	_, err := NewCart([]int{3}, nil)
	expectClass(t, "lists of different length", err, errs.Arg)
	for _, dims := range [][]int{{0}, {-3}, {1 << 16, 1 << 15}, {math.MaxInt, 4}} {
		_, err := NewCart(dims, make([]bool, len(dims)))
		expectClass(t, fmt.Sprint(dims), err, errs.Dims)
	}
	if _, err := NewCart([]int{1 << 16, 1<<15 - 1}, make([]bool, 2)); err != nil {
		t.Error(err)
	}
	for _, coords := range [][]int{{1}, {1, 2, 3}, {0, 4}, {0, -1}} {
		_, err := c.Rank(coords)
		expectClass(t, fmt.Sprint(coords), err, errs.Arg)
	}
	for _, rank := range []int{-1, 12} {
		_, err1 := c.Coords(rank)
		_, _, err2 := c.Shift(rank, 0, 1)
		_, err3 := c.Neighbors(rank)
		_, _, _, err4 := c.Sub(rank, []bool{true, true})
		for i, err := range []error{err1, err2, err3, err4} {
			expectClass(t, fmt.Sprintf("call %d with rank %d", i, rank), err, errs.Rank)
		}
	}
	for _, dim := range []int{-1, 2} {
		_, _, err := c.Shift(0, dim, 1)
		expectClass(t, "shift along no dimension", err, errs.Arg)
	}
	_, _, _, err = c.Sub(0, []bool{true})
	expectClass(t, "a choice of one dimension of two", err, errs.Arg)
	expectClass(t, "eleven ranks", c.Fits(11), errs.Dims)
	expectClass(t, "twelve ranks", c.Fits(12), errs.Success)
}
