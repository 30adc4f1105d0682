package taskbench

import (
	"context"
	"fmt"
	"time"
)

// Sample is the shortest of some runs with so many iterations of the kernel.
type Sample struct {
	Iterations int
	Work       int // of all tasks, in the kernel's unit
	Elapsed    time.Duration
}

// Sweep has runner execute a graph with each of these iterations, runs times each, and hands each sample to out. A
// rank of several has the points own; all ranks call it with the same arguments. It blocks until all is done, a run was
// wrong, or ctx has ended.
func Sweep(
	ctx context.Context, runner Runner, p *Plan, own Interval, iterations []int, runs int, out func(Sample),
) error {
	for _, n := range iterations {
		if err := ctx.Err(); err != nil {
			return err
		}
		with := *p
		with.Kernel.Iterations = n
		if err := with.Kernel.check(); err != nil {
			return err
		}
		best, err := fastest(runner, NewRun(&with, own), runs)
		if err != nil {
			return fmt.Errorf("%v, %d iterations: %w", p.Type, n, err)
		}
		out(Sample{n, with.Work(), best})
	}
	return nil
}

func fastest(runner Runner, r *Run, runs int) (best time.Duration, err error) {
	for i := range runs {
		took, err := runner.Run(r)
		if err != nil {
			return 0, err
		}
		if err := r.End(); err != nil {
			return 0, err
		}
		if i == 0 || took < best {
			best = took
		}
	}
	return best, nil
}
