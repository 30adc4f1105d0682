package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/examples/internal/graph"
	"github.com/golci/golci/mpi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serial gives the distance of each vertex from root, -1 where there is no way.
func serial(n int, edges []graph.Edge, root int64) []int64 {
	level := slices.Repeat([]int64{-1}, n)
	level[root] = 0
	for at := int64(0); ; at++ {
		more := false
		for _, e := range edges {
			for range 2 {
				if level[e.From] == at && level[e.To] < 0 {
					level[e.To], more = at+1, true
				}
				e.From, e.To = e.To, e.From
			}
		}
		if !more {
			return level
		}
	}
}

// TestLevels: any number of ranks finds the distances that a serial search does, also with fewer vertices than ranks.
func TestLevels(t *testing.T) {
	for _, size := range []int{1, 2, 3, 5} {
		for _, scale := range []int{1, 2, 6, 9} {
			g := graph.RMAT{Scale: scale, Edges: 3 << scale, Seed: 9}
			all, err := g.Share(0, 1)
			if err != nil {
				t.Fatal(err)
			}
			err = mpi.Run(size, func(c *mpi.Comm) error {
				edges, err := g.Share(c.Rank(), size)
				if err != nil {
					return err
				}
				s, err := build(c, 1<<scale, edges)
				if err != nil {
					return err
				}
				root, err := s.root(1, 0)
				if err != nil {
					return err
				}
				tree, err := s.bfs(root)
				if err != nil {
					return err
				}
				if _, err := s.validate(tree, edges); err != nil {
					return err
				}
				got, err := s.whole(tree.level)
				if want := serial(1<<scale, all, root); !slices.Equal(got, want) {
					t.Errorf("%d ranks, scale %d: %v, want %v", size, scale, got, want)
				}
				return err
			})
			if err != nil {
				t.Errorf("%d ranks, scale %d: %v", size, scale, err)
			}
		}
	}
}

// TestValidate: each rule finds a tree that breaks it. The graph is a ring of six vertices and two others.
func TestValidate(t *testing.T) {
	ring := []graph.Edge{{From: 6, To: 7}}
	for v := range uint64(6) {
		ring = append(ring, graph.Edge{From: v, To: (v + 1) % 6})
	}
	for want, spoil := range map[string]func(t *tree){
		"":                                     func(*tree) {},
		"edge 2 to 3 joins levels 2 and 0":     func(t *tree) { t.level[3] = 0 },
		"edge 6 to 7 joins levels 2 and -1":    func(t *tree) { t.level[6], t.parent[6] = 2, 1 },
		"root 0 has parent 1":                  func(t *tree) { t.parent[0] = 1 },
		"vertex 3 of level 3 has a parent of":  func(t *tree) { t.parent[3] = 1 },
		"vertex 4 has no edge to its parent 1": func(t *tree) { t.parent[4] = 1 },
	} {
		err := mpi.Run(1, func(c *mpi.Comm) error {
			s, err := build(c, 8, ring)
			if err != nil {
				return err
			}
			tree, err := s.bfs(0)
			if err != nil {
				return err
			}
			spoil(tree)
			sum, err := s.validate(tree, ring)
			if err == nil && (sum != size{6, 6} || tree.levels != 4) {
				t.Errorf("%+v in %d levels", sum, tree.levels)
			}
			return err
		})
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestSearch(t *testing.T) {
	o := options{RMAT: graph.RMAT{Scale: 8, Edges: 16 << 8, Seed: 2}, searches: 3}
	var out bytes.Buffer // rank 0 alone writes to it
	if err := mpi.Run(3, func(c *mpi.Comm) error { return search(c, o, &out) }); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Count(got, "\n") != 5 || !strings.HasSuffix(got, "check: 3 trees are valid\n") {
		t.Errorf("it printed\n%s", got)
	}
}

func TestFlags(t *testing.T) {
	for _, args := range []string{"-scale 0", "-scale 31", "-degree 0", "-searches 0", "word"} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
	if o, err := parse([]string{"-scale", "4"}); err != nil || o.Scale != 4 || o.Edges != 256 || o.searches != 8 {
		t.Errorf("%+v, %v", o, err)
	}
}
