// Heat computes the temperature of a square plate by Jacobi's method: each step sets every inner point to the mean of
// its four neighbours. The plate is cut into tiles, several to a rank. A light-weight thread computes each tile, and
// exchanges edges with the threads of the four neighbouring tiles.
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
	rank.Main(parse, func(c *mpi.Comm, o options) error { return heat(c, o, os.Stdout) })
}

type options struct {
	n     int  // inner points of a side
	tiles int  // of each rank
	steps int  // to compute
	check bool // compare with a serial run
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("heat", flag.ContinueOnError)
	f.IntVar(&o.n, "n", 512, "inner points of a side of the plate")
	f.IntVar(&o.tiles, "tiles", 16, "tiles of each rank, one thread each")
	f.IntVar(&o.steps, "steps", 500, "steps to compute")
	f.BoolVar(&o.check, "check", true, "compare with a serial run")
	if err := rank.Parse(f, "heat [flags]: the temperature of a square plate with one hot side", args, 0); err != nil {
		return o, err
	}
	if o.n > maxSide {
		return o, fmt.Errorf("-n %d: want at most %d", o.n, maxSide)
	}
	return o, cmp.Or(rank.AtLeast("n", o.n, 1), rank.AtLeast("tiles", o.tiles, 1), rank.AtLeast("steps", o.steps, 0))
}

// heat is one rank's part. Rank 0 prints to w.
func heat(c *mpi.Comm, o options, w io.Writer) error {
	g, err := divide(o.n, c.Size(), o.tiles)
	if err != nil {
		return err
	}
	tiles, took, err := compute(c, g, o.steps)
	if err != nil {
		return err
	}
	whole, err := collect(c, g, tiles)
	if err != nil || c.Rank() != 0 {
		return err
	}
	fmt.Fprintf(w, "plate: %d x %d points in %d x %d tiles, %d ranks\n", o.n, o.n, g.rows, g.cols, c.Size())
	fmt.Fprintf(w, "mean temperature after %d steps: %.9f\n", o.steps, whole.mean())
	fmt.Fprintf(w, "points/s: %.0f\n", float64(o.n)*float64(o.n)*float64(o.steps)/took.Seconds())
	if !o.check {
		return nil
	}
	if err := whole.compare(serial(o.n, o.steps)); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, "check: equal to a serial run")
	return err
}
