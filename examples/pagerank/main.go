// Pagerank computes the PageRank of the vertices of a graph with one light-weight thread for each block of vertices on each
// rank, and prints the ten best.
//
//	pagerank [flags] [FILE]
//
// FILE is an edge list in the format of SNAP; without it a random graph is made. Equal edges count once. A vertex that no
// edge leaves spreads its score evenly over all vertices. Standard output has, from rank 0, ten lines of vertex and score,
// and then lines that begin with a word.
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

// best is how many vertices are printed.
const best = 10

// pagerank is one rank's part. Rank 0 prints to out, and draws a bar on bar if that is not nil.
func pagerank(c *mpi.Comm, o options, out, bar io.Writer) error {
	in := o.input()
	edges, err := in.share(c.Rank(), c.Size())
	if err != nil {
		return err
	}
	d, err := agree(c, edges)
	if err != nil {
		return err
	}
	s, err := build(c, d, edges, o.blocks)
	if err != nil {
		return err
	}
	sol, err := newSolver(c, s, o.rule)
	if err != nil {
		return err
	}
	if c.Rank() != 0 {
		bar = nil
	}
	stop := sol.draw(bar)
	err = sol.solve()
	stop()
	if err != nil {
		return err
	}
	return sol.report(d, in, o, out)
}
