// Pagerank computes the PageRank of the vertices of a graph, and prints the ten best. Each rank has a light-weight
// thread for each of its blocks of vertices.
//
//	pagerank [flags] [FILE]
//
// FILE is an edge list in the format of SNAP; without it a random graph is made. Equal edges count once. A vertex
// that no edge leaves spreads its score evenly over all vertices. Standard output has, from rank 0, ten lines of
// vertex and score, and then lines that begin with a word.
package main

import (
	"io"
	"os"

	"github.com/golci/golci/examples/internal/rank"
	"github.com/golci/golci/mpi"
)

func main() {
	rank.Main(parse, func(c *mpi.Comm, o options) error { return pagerank(c, o, os.Stdout, terminal()) })
}

const best = 10

// pagerank is one rank's part. Rank 0 prints to out, and draws a bar on bar if that is not nil.
func pagerank(c *mpi.Comm, o options, out, bar io.Writer) error {
	if c.Rank() != 0 {
		bar = nil
	}
	shown := new(progress)
	stop := shown.draw(bar, o.rule)
	in := o.input()
	sol, d, err := run(c, o, in, shown)
	stop()
	if err != nil {
		return err
	}
	return sol.report(d, in, o, out)
}

func run(c *mpi.Comm, o options, in input, shown *progress) (*solver, directory, error) {
	shown.enter("reading edges")
	edges, err := in.Share(c.Rank(), c.Size())
	if err != nil {
		return nil, nil, err
	}
	shown.enter("numbering vertices")
	d, err := agree(c, edges)
	if err != nil {
		return nil, nil, err
	}
	shown.enter("dealing edges out")
	s, err := build(c, d, edges, o.blocks)
	if err != nil {
		return nil, nil, err
	}
	sol, err := newSolver(c, s, o.rule, shown)
	if err != nil {
		return nil, nil, err
	}
	return sol, d, sol.solve()
}
