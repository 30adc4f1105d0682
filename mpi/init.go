package mpi

import (
	"context"
	"fmt"
	"os"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/comm/rank"
	"github.com/golci/golci/internal/settings"
)

// Init joins this process to its job as one rank (11.2). It blocks until all ranks are ready or the time of
// GOLCI_INIT_TIMEOUT is over. The error then names the missing ranks, if the launcher lets them be known. Without a
// launcher the job has one rank. A process can join its launcher's job once. Errors: ErrArgument, and those of
// internal/boot.
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
		p, err = newProc(r, o, false)
		return err
	}
	if _, err := rank.Start(orNone(ctx), o.rank); err != nil {
		return nil, fmt.Errorf("mpi: Init: %w", err)
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
		procs[r.Rank()], err = newProc(r, o, true)
		return err
	}
	t, err := rank.Local(n, o.rank)
	if err != nil {
		return fmt.Errorf("mpi: Run: %w", err)
	}
	return t.Run(func(r *rank.Rank) error { return f(procs[r.Rank()].world) })
}

// newProc makes MPI's part of a rank, before there is traffic. inRun tells a rank of Run.
func newProc(r *rank.Rank, o *options, inRun bool) (p *Proc, err error) {
	p = &Proc{rank: r, sched: r.Threads(), checked: checked(r.Settings(), inRun)}
	if p.srv, err = comm.New(r.Endpoint(), serverConfig(r)); err != nil {
		return nil, err
	}
	r.Count("unexpected bytes", p.srv.UnexpectedBytes)
	p.ids.init(p.srv)
	p.srv.OnNotice(p.noticed)
	p.world = newComm(p, worldID, worldUID, ranks(r.Size()), r.Rank())
	p.self = newComm(p, selfID, selfUID, []int32{int32(r.Rank())}, 0)
	if err := r.Attach(rank.Layer{Report: p.report, Unended: p.unended, Meet: p.meet, Stop: p.srv.Close}); err != nil {
		return nil, err
	}
	for _, f := range o.attach {
		if err := f(p.srv); err != nil {
			return nil, err
		}
	}
	for _, f := range o.layers {
		if err := f(r); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// meet is this layer's part in Finalize.
func (p *Proc) meet() error {
	p.final.Store(true)
	return p.world.lastBarrier()
}

// ranks are all ranks of the world.
func ranks(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// Sizes of the matching table: an entry for each thread that may wait, and for packets besides.
const (
	packetEntries = 1 << 15
	maxEntries    = 1 << 20
	sharedEntries = 1 << 12 // of a rank that shares its process or its core, unless threads were asked for
)

func serverConfig(r *rank.Rank) comm.Config {
	set := r.Settings()
	c := comm.Config{Eager: r.Eager(), Unexpected: int(settings.Unexpected.Get(set)), Entries: sharedEntries}
	if !r.Shared() || settings.Threads.Given(set) {
		c.Entries = min(maxEntries, r.Threads().Workers()*settings.Threads.Get(set)+packetEntries)
	}
	if w := r.Waits(); w != nil {
		c.Waits = w
	}
	return c
}
