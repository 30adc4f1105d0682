// Stencil computes the temperature of a square plate by Jacobi's method, with package realm. The plate is cut into
// blocks, several to a rank. Each step is a task for each block, and copies of its edges into the blocks beside it.
//
// The program does this in two forms. In the bulk-synchronous one, all ranks wait for each other after the tasks and
// copies of a step. In the deferred one, every task and copy has the events of what it needs as its precondition. Some
// steps are described ahead, and no rank waits for all others before the end.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/golci/golci/examples/internal/rank"
	"github.com/golci/golci/realm"
)

func main() {
	rank.MainRealm(parse, func(ctx context.Context, rt *realm.Runtime, o options) error {
		return stencil(ctx, rt, o,
			os.Stdout)
	})
}

type options struct {
	n      int // inner points of a side
	blocks int // of each rank
	steps  int
	check  bool // compare with a serial run
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("stencil", flag.ContinueOnError)
	f.IntVar(&o.n, "n", 256, "inner points of a side of the plate")
	f.IntVar(&o.blocks, "blocks", 4, "blocks of each rank")
	f.IntVar(&o.steps, "steps", 200, "steps to compute")
	f.BoolVar(&o.check, "check", true, "compare with a serial run")
	if err := rank.Parse(f, "stencil [flags]: a plate with one hot side, bulk-synchronous and deferred", args,
		0); err != nil {
		return o, err
	}
	return o, cmp.Or(rank.AtLeast("n", o.n, 1), rank.AtLeast("blocks", o.blocks, 1), rank.AtLeast("steps", o.steps, 1))
}

// stencil is one rank's part. Rank 0 prints to w.
func stencil(ctx context.Context, rt *realm.Runtime, o options, w io.Writer) error {
	g, err := divide(o.n, rt.Size()*o.blocks)
	if err != nil {
		return err
	}
	p, err := newPlate(ctx, rt, g, o.blocks)
	if err != nil {
		return err
	}
	var took [2]time.Duration
	for i, form := range []func(context.Context, int) error{p.bulk, p.deferred} {
		if err := p.reset(ctx); err != nil {
			return err
		}
		start := time.Now()
		if err := form(ctx, o.steps); err != nil {
			return err
		}
		if err := p.meet(ctx); err != nil {
			return err
		}
		took[i] = time.Since(start)
		whole, err := p.collect(ctx, o.steps)
		if err != nil {
			return err
		}
		if rt.Rank() == 0 && o.check {
			if err := same(whole, serial(o.n, o.steps)); err != nil {
				return fmt.Errorf("form %d: %w", i, err)
			}
		}
	}
	if rt.Rank() == 0 {
		fmt.Fprintf(w, "plate: %d x %d points in %d x %d blocks, %d ranks, %d steps\n", o.n, o.n, g.rows, g.cols,
			rt.Size(), o.steps)
		fmt.Fprintf(w, "bulk-synchronous: %v a step\n", took[0]/time.Duration(o.steps))
		fmt.Fprintf(w, "deferred:         %v a step\n", took[1]/time.Duration(o.steps))
		fmt.Fprintf(w, "gain: %.2f\n", took[0].Seconds()/took[1].Seconds())
		if o.check {
			fmt.Fprintln(w, "check: both are equal to a serial run")
		}
	}
	return nil
}
