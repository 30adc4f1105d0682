// Cg solves Poisson's equation on a square by the method of conjugate gradients. Each rank has some rows of the grid.
// It exchanges its first and last row with its neighbours in each step, and all ranks sum the scalar products.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/golci/golci/examples/internal/rank"
	"github.com/golci/golci/mpi"
)

func main() {
	rank.Main(parse, func(c *mpi.Comm, o options) error { return poisson(c, o, os.Stdout) })
}

type options struct {
	n         int     // inner points of a side
	tolerance float64 // of the residual's norm, relative to that of the right side
	most      int     // steps
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("cg", flag.ContinueOnError)
	f.IntVar(&o.n, "n", 256, "inner points of a side of the square")
	f.Float64Var(&o.tolerance, "tolerance", 1e-9, "norm of the residual, relative to that of the right side")
	f.IntVar(&o.most, "steps", 10000, "steps at most")
	const about = "cg [flags]: Poisson's equation on a square, by conjugate gradients"
	if err := rank.Parse(f, about, args, 0); err != nil {
		return o, err
	}
	if o.tolerance <= 0 {
		return o, fmt.Errorf("-tolerance %g: want more than 0", o.tolerance)
	}
	return o, cmp.Or(rank.AtLeast("n", o.n, 1), rank.AtLeast("steps", o.most, 1))
}

// poisson is one rank's part. Rank 0 prints to w.
func poisson(c *mpi.Comm, o options, w io.Writer) error {
	s := newStrip(c, o.n)
	x, right := s.field(), s.sample(force)
	done, err := s.solve(x, right, o.tolerance, o.most)
	if err != nil {
		return err
	}
	off, err := s.largestError(x, solution)
	if err != nil || c.Rank() != 0 {
		return err
	}
	fmt.Fprintf(w, "grid: %d x %d points, %d ranks\n", o.n, o.n, c.Size())
	fmt.Fprintf(w, "steps: %d, relative residual: %.3g\n", done.steps, done.relative)
	if limit := s.errorLimit(done.residual); off > limit {
		return fmt.Errorf("the solution is off by %g, more than %g", off, limit)
	}
	_, err = fmt.Fprintf(w, "check: within %.3g of the exact solution\n", off)
	return err
}
