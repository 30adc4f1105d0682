package suite

import (
	"context"
	"errors"
	"fmt"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/crossing"
	"github.com/golci/golci/bench/ranks"
	"github.com/golci/golci/bench/realm"
	"github.com/golci/golci/bench/twin"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/mpi"
)

func insideJob(env lookup) (bool, error) {
	launcher, _, _, err := boot.Detect(env)
	if err != nil {
		return false, fmt.Errorf("bench: %w", err)
	}
	return launcher != boot.LauncherSingle, nil
}

// takePart runs the chosen benchmarks as one rank of the job that this process belongs to.
func takePart(ctx context.Context, c Config, chosen []spec) error {
	for _, s := range chosen {
		switch {
		case s.kind == virtual:
			return fmt.Errorf("%w: %s needs no ranks, run it without a launcher", ErrUsage, s.name)
		case (s.kind == active || s.kind == either || s.kind == tasked) && len(chosen) > 1:
			return fmt.Errorf("%w: %s needs a job of its own", ErrUsage, s.name)
		}
	}
	out := newPrinter(c)
	switch chosen[0].kind {
	case either:
		return tasksInJob(ctx, c)
	case active:
		return twins(ctx, chosen[0], out)
	case tasked:
		return takeTasks(ctx, chosen[0], realm.Printer(c.Out, c.JSON))
	}
	return messages(ctx, chosen, out, c.Env)
}

// twins runs a benchmark of the layers below package mpi.
func twins(ctx context.Context, s spec, out printer) error {
	r, err := twin.Start(ctx)
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	var printing error
	err = twin.Run(ctx, r, twin.Config{Bench: s.name, Sizes: s.sizes, Window: s.window}, func(r bench.Row) {
		printing = errors.Join(printing, out(r))
	})
	return twin.Leave(ctx, r, errors.Join(err, printing))
}

func messages(ctx context.Context, chosen []spec, out printer, env lookup) (err error) {
	p, err := mpi.Init()
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	defer func() { err = errors.Join(err, p.Finalize()) }()
	ends, err := crossing.Share(ctx, p.Job())
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	var printing error
	for _, s := range chosen {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := s.take(p, ends, func(r bench.Row) {
			r.Impl = label(env)
			printing = errors.Join(printing, out(r))
		})
		if err := errors.Join(err, printing); err != nil {
			return err
		}
	}
	return nil
}

func (s spec) take(p *mpi.Proc, ends *crossing.Ends, out func(bench.Row)) error {
	return ranks.Run(p, ranks.Config{
		Bench: s.name, Sizes: s.sizes, Threads: s.threads, Window: s.windowOf(s.threads), Ends: ends,
	}, out)
}
