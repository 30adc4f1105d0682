// Samplesort sorts numbers that all ranks have (Frazer, McKellar: Samplesort, 1970). Samples of all ranks cut the range
// of the numbers into as many parts as there are ranks. Each rank gets one part from all others and sorts it.
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
	rank.Main(parse, func(c *mpi.Comm, o options) error { return sortAll(c, o, os.Stdout) })
}

type options struct {
	n      int    // numbers of each rank
	spread string // how they are distributed
	seed   uint64
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("samplesort", flag.ContinueOnError)
	f.IntVar(&o.n, "n", 1<<20, "numbers of each rank")
	f.StringVar(&o.spread, "spread", "even", "how the numbers are spread: even, skewed, few (many equal ones) or sorted")
	f.Uint64Var(&o.seed, "seed", 1, "of the random numbers")
	if err := rank.Parse(f, "samplesort [flags]: sort numbers that lie on all ranks", args, 0); err != nil {
		return o, err
	}
	if spreads[o.spread] == nil {
		return o, fmt.Errorf("-spread %s: want even, skewed, few or sorted", o.spread)
	}
	return o, rank.AtLeast("n", o.n, 0)
}

// sortAll is one rank's part. Rank 0 prints to w.
func sortAll(c *mpi.Comm, o options, w io.Writer) error {
	numbers := generate(o, c.Rank(), c.Size())
	before := digestOf(numbers)
	if err := c.Barrier(); err != nil {
		return err
	}
	begun := time.Now()
	sorted, err := samplesort(c, numbers)
	if err != nil {
		return err
	}
	took, err := mpi.AllreduceOne(c, time.Since(begun).Seconds(), mpi.Max)
	if err != nil {
		return err
	}
	all, err := check(c, before, sorted)
	if err != nil {
		return err
	}
	largest, err := mpi.AllreduceOne(c, uint64(len(sorted)), mpi.Max)
	if err != nil || c.Rank() != 0 {
		return err
	}
	mean := float64(max(all, 1)) / float64(c.Size())
	fmt.Fprintf(w, "numbers: %d on %d ranks\n", all, c.Size())
	fmt.Fprintf(w, "numbers/s: %.0f, largest part: %.3f of the mean\n", float64(all)/took, float64(largest)/mean)
	_, err = fmt.Fprintln(w, "check: sorted, and the same numbers as before")
	return err
}
