package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/rank"
)

// Init joins this process to its job as one rank (11.2). It blocks until all ranks are ready or the time of
// GOLCI_INIT_TIMEOUT is over. The error then names the missing ranks, if the launcher lets them be known. Without a
// launcher the job has one rank. A process can join its launcher's job once. Errors: ErrArgument, and those of
// internal/job/boot.
//
// Init is the start of an MPI program, so it asks package rank for three things that concern the whole process. Where
// GOMAXPROCS is not set in the environment, it is raised to one more than the threads that poll. SIGQUIT is answered
// with a report (WithoutQuitDump). And the process ends when the job ends otherwise than by Finalize.
//
// A rank that fails after it has joined a job of several ranks aborts the job, with its error as the reason. The
// other ranks could only wait for it. The launcher then ends all ranks, this one too, and prints the reason.
func Init(opts ...Option) (*Proc, error) { return InitContext(context.Background(), opts...) }

// InitContext is Init that gives up when ctx ends, if that is before the time of GOLCI_INIT_TIMEOUT. The error then
// also wraps the cause of ctx, which is ErrArgument for a nil one.
func InitContext(ctx context.Context, opts ...Option) (*Proc, error) {
	o, err := readOptions(opts)
	if err != nil {
		return nil, err
	}
	o.rank.Processors, o.rank.Exit = true, os.Exit
	var p *Proc
	o.rank.Attach = func(r *rank.Rank) (err error) {
		p, err = o.attachLayers(r, false)
		return err
	}
	if _, err := rank.Start(core.OrNone(ctx), o.rank); err != nil {
		return nil, fmt.Errorf("mpi: Init: %w", err)
	}
	if err := p.core().JoinParent(); err != nil {
		return nil, p.Abort(1, err)
	}
	return p, nil
}

// Run runs f as n ranks of one job in this process and waits for them. Each rank runs on a goroutine of its own, and
// gets its world communicator. It is for tests, examples and the race detector; nothing is shared with other jobs in
// the process. The ranks are finalized when f returns. An error, panic or runtime.Goexit of one rank aborts the
// others: their pending and later operations end with ErrAborted. Run joins the errors of the ranks, naming each,
// without those that only follow from an abort. When ranks call Exit it returns an *ExitError with the greatest code,
// or nil if that is 0. Errors before the ranks run: ErrArgument, and those of the conduit.
func Run(n int, f func(c *Comm) error, opts ...Option) error {
	o, err := readOptions(opts)
	if err != nil {
		return err
	}
	switch {
	case f == nil:
		return fmt.Errorf("mpi: Run: %w: nil function", ErrArgument)
	case n > comm.MaxRanks:
		return fmt.Errorf("mpi: Run: %w: a job of %d ranks, the most is %d", ErrArgument, n, comm.MaxRanks)
	}
	procs := make([]*Proc, max(0, n))
	o.rank.Attach = func(r *rank.Rank) (err error) {
		procs[r.Rank()], err = o.attachLayers(r, true)
		return err
	}
	t, err := rank.Local(n, o.rank)
	if err != nil {
		return fmt.Errorf("mpi: Run: %w", err)
	}
	return t.Run(func(r *rank.Rank) error {
		p := procs[r.Rank()]
		return errors.Join(f(p.World()), p.dropAttributes())
	})
}

// attachLayers makes the layers of a rank, before there is traffic: MPI's own, and what the options ask for. inRun
// tells a rank of Run.
func (o *options) attachLayers(r *rank.Rank, inRun bool) (*Proc, error) {
	k, err := core.NewProc(r, inRun)
	if err != nil {
		return nil, err
	}
	for _, f := range o.servers {
		if err := f(k.Server()); err != nil {
			return nil, err
		}
	}
	for _, f := range o.layers {
		if err := f(r); err != nil {
			return nil, err
		}
	}
	return (*Proc)(k), nil
}
