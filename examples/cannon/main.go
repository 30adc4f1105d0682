// Cannon multiplies two square matrices by Cannon's algorithm. The ranks form a square grid that is a ring in both
// dimensions, and each has one block of either matrix. In each step the blocks of the left matrix move one rank to the
// left, those of the right one move one rank up.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/golci/golci/examples/internal/rank"
	"github.com/golci/golci/mpi"
)

func main() {
	rank.Main(parse, func(c *mpi.Comm, o options) error { return cannon(c, o, os.Stdout) })
}

type options struct{ n int } // rows of a matrix

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("cannon", flag.ContinueOnError)
	f.IntVar(&o.n, "n", 512, "rows and columns of a matrix")
	const about = "cannon [flags]: the product of two matrices on a square grid of ranks; ranks that are too many rest"
	if err := rank.Parse(f, about, args, 0); err != nil {
		return o, err
	}
	return o, rank.AtLeast("n", o.n, 1)
}

// side is the side of the largest square grid of so many ranks.
func side(ranks int) int {
	q := 1
	for (q+1)*(q+1) <= ranks {
		q++
	}
	return q
}

// cannon is one rank's part. Rank 0 of the grid prints to w.
func cannon(c *mpi.Comm, o options, w io.Writer) error {
	q := side(c.Size())
	square, err := c.CreateCart([]int{q, q}, []bool{true, true}, true)
	if err != nil || square == nil { // nil: a rank that rests
		return err
	}
	g, err := newGrid(square, o.n)
	if err != nil {
		return err
	}
	a, b := g.fill(left), g.fill(right)
	start := time.Now()
	product, err := g.multiply(a, b)
	if err != nil {
		return err
	}
	took := time.Since(start)
	if err := g.check(product); err != nil {
		return err
	}
	if square.Rank() == 0 {
		n := float64(o.n)
		fmt.Fprintf(w, "matrices: %d x %d, grid of ranks: %d x %d, blocks: %d x %d\n", o.n, o.n, q, q, g.size, g.size)
		fmt.Fprintf(w, "time: %v, %.2f Gflop/s\n", took.Round(time.Microsecond), 2*n*n*n/took.Seconds()/1e9)
		fmt.Fprintln(w, "check: the product is exact for a vector of random numbers")
	}
	return square.Free()
}
