// Bfs finds the vertices of a random graph that can be reached from one vertex, and how, level by level: breadth-first
// search as in Graph500 (Introducing the Graph 500, 2010). Each rank has some of the vertices with their edges. In each
// level it tells the owners of the vertices that it has met. The tree is validated by the rules of Graph500.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/golci/golci/examples/internal/graph"
	"github.com/golci/golci/examples/internal/rank"
	"github.com/golci/golci/mpi"
)

func main() {
	rank.Main(parse, func(c *mpi.Comm, o options) error { return search(c, o, os.Stdout) })
}

type options struct {
	graph.RMAT
	searches int
}

func parse(args []string) (options, error) {
	var o options
	degree := 0
	f := flag.NewFlagSet("bfs", flag.ContinueOnError)
	f.IntVar(&o.Scale, "scale", 16, "the graph has 2^scale vertices")
	f.IntVar(&degree, "degree", 16, "edges of the graph for each vertex")
	f.Uint64Var(&o.Seed, "seed", 1, "another random graph")
	f.IntVar(&o.searches, "searches", 8, "from different vertices")
	if err := rank.Parse(f, "bfs [flags]: breadth-first search in a random graph", args, 0); err != nil {
		return o, err
	}
	if o.Scale < 1 || o.Scale > 30 {
		return o, fmt.Errorf("-scale %d: want 1 to 30", o.Scale)
	}
	o.Edges = degree << o.Scale
	if err := rank.AtLeast("degree", degree, 1); err != nil {
		return o, err
	}
	return o, rank.AtLeast("searches", o.searches, 1)
}

// search is one rank's part. Rank 0 prints to w.
func search(c *mpi.Comm, o options, w io.Writer) error {
	edges, err := o.Share(c.Rank(), c.Size())
	if err != nil {
		return err
	}
	s, err := build(c, 1<<o.Scale, edges)
	if err != nil {
		return err
	}
	if c.Rank() == 0 {
		fmt.Fprintf(w, "graph: %d vertices, %d edges, %d ranks\n", 1<<o.Scale, o.Edges, c.Size())
	}
	for i := range o.searches {
		root, err := s.root(o.Seed, i)
		if err != nil {
			return err
		}
		if err := s.one(root, edges, w); err != nil {
			return err
		}
	}
	if c.Rank() == 0 {
		_, err = fmt.Fprintf(w, "check: %d trees are valid\n", o.searches)
	}
	return err
}

// one searches from root, and validates the tree.
func (s *shard) one(root int64, edges []graph.Edge, w io.Writer) error {
	if err := s.c.Barrier(); err != nil {
		return err
	}
	begun := time.Now()
	t, err := s.bfs(root)
	if err != nil {
		return err
	}
	took := time.Since(begun)
	sum, err := s.validate(t, edges)
	if err != nil || s.c.Rank() != 0 {
		return err
	}
	_, err = fmt.Fprintf(w, "from %d: %d vertices in %d levels, %.0f edges/s\n", root, sum.vertices, t.levels,
		float64(sum.edges)/took.Seconds())
	return err
}
