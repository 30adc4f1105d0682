// Halo computes how heat spreads on a square plate by Jacobi's method. The ranks form a grid, and each has a rectangle
// of the plate in a window. After each step it puts its outer rows and columns into the borders of its neighbours. A
// rank waits for its neighbours only.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/golci/golci/examples/internal/rank"
	"github.com/golci/golci/mpi"
)

func main() {
	rank.Main(parse, func(c *mpi.Comm, o options) error { return halo(c, o, os.Stdout) })
}

type options struct {
	n, steps int
	picture  bool
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("halo", flag.ContinueOnError)
	f.IntVar(&o.n, "n", 256, "points of a side of the plate")
	f.IntVar(&o.steps, "steps", 500, "steps to compute")
	f.BoolVar(&o.picture, "picture", true, "print a picture of the plate")
	const about = "halo [flags]: heat on a plate, whose parts exchange their edges by puts"
	if err := rank.Parse(f, about, args, 0); err != nil {
		return o, err
	}
	return o, cmp.Or(rank.AtLeast("n", o.n, 1), rank.AtLeast("steps", o.steps, 0))
}

// halo is one rank's part. Rank 0 prints to w.
func halo(c *mpi.Comm, o options, w io.Writer) error {
	dims := make([]int, 2)
	if err := mpi.DimsCreate(c.Size(), dims); err != nil {
		return err
	}
	if dims[0] > o.n {
		return fmt.Errorf("-n %d: want a row for each of %d rows of ranks", o.n, dims[0])
	}
	grid, err := c.CreateCart(dims, nil, true)
	if err != nil {
		return err
	}
	p, err := newPart(grid, o.n)
	if err != nil {
		return err
	}
	start := time.Now()
	for range o.steps {
		if err := p.step(); err != nil {
			return err
		}
	}
	took := time.Since(start)
	if err := grid.Barrier(); err != nil { // no rank reads before all have written
		return err
	}
	if grid.Rank() == 0 {
		if err := p.report(o, took, w); err != nil {
			return err
		}
	}
	return cmp.Or(p.win.Free(), grid.Free())
}

// report checks the result and prints it. Rank 0 alone calls it.
func (p *part) report(o options, took time.Duration, w io.Writer) error {
	whole, err := p.collect()
	if err != nil {
		return err
	}
	want := serial(o.n, o.steps)
	for i := range whole {
		if whole[i] != want[i] {
			return fmt.Errorf("point %d, %d is %g, a serial run has %g", i/o.n, i%o.n, whole[i], want[i])
		}
	}
	fmt.Fprintf(w, "plate: %d x %d points, grid of ranks: %d x %d, steps: %d\n", o.n, o.n, p.dims[0], p.dims[1], o.steps)
	fmt.Fprintf(w, "time: %v a step\n", (took / time.Duration(max(o.steps, 1))).Round(10*time.Nanosecond))
	if o.picture {
		draw(w, whole, o.n)
	}
	_, err = fmt.Fprintln(w, "check: each point is as in a serial run")
	return err
}
