package graph

import (
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func whole(t *testing.T, g RMAT, parts int) (all []Edge) {
	t.Helper()
	for part := range parts {
		edges, err := g.Share(part, parts)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, edges...)
	}
	return all
}

func TestRandomGraph(t *testing.T) {
	g := RMAT{Scale: 10, Edges: 3*chunkEdges + 17, Seed: 5}
	want := whole(t, g, 1)
	if len(want) != g.Edges {
		t.Fatalf("%d edges, want %d", len(want), g.Edges)
	}
	for _, parts := range []int{2, 3, 8, 100} {
		if got := whole(t, g, parts); !slices.Equal(got, want) {
			t.Errorf("%d parts are another graph", parts)
		}
	}
	if slices.Equal(want, whole(t, RMAT{Scale: 10, Edges: g.Edges, Seed: 6}, 1)) {
		t.Error("another seed gives the same graph")
	}
	for _, e := range want {
		if e.From >= 1<<10 || e.To >= 1<<10 {
			t.Fatalf("edge %v is beyond the scale", e)
		}
	}
}

// Scrambling loses no id.
func TestScramble(t *testing.T) {
	for scale := 1; scale <= 12; scale++ {
		g := RMAT{Scale: scale, Seed: 3}
		seen := make([]bool, 1<<scale)
		for id := range uint64(1) << scale {
			seen[g.scramble(id)] = true
		}
		if slices.Contains(seen, false) {
			t.Errorf("scale %d: not a bijection", scale)
		}
	}
}

// Items come to the rank that they are for, those of one sender in order.
func TestDeal(t *testing.T) {
	err := mpi.Run(3, func(c *mpi.Comm) error {
		var items []int
		for i := range 10 * c.Rank() {
			items = append(items, 100*c.Rank()+i)
		}
		got, from, err := Deal(c, items, func(x int) int { return x % 3 })
		for _, x := range got {
			if x%3 != c.Rank() {
				t.Errorf("rank %d got %d", c.Rank(), x)
			}
		}
		if !slices.IsSorted(got) || from[0] != 0 || from[0]+from[1]+from[2] != len(got) || len(got) < 9 {
			t.Errorf("rank %d got %v, from each %v", c.Rank(), got, from)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
