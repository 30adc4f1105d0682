package rank

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/platform/affinity"
	"github.com/golci/golci/internal/platform/futex"
	"github.com/golci/golci/rank/internal/cores"
	"github.com/golci/golci/rank/internal/wiring"
)

// Start joins this process to its job as one rank, and blocks until all ranks are ready, ctx ends, or the time of
// GOLCI_INIT_TIMEOUT is over; the error then names the ranks that did not come, as far as the launcher lets that be
// known. Without a launcher the job has one rank. A process can join its launcher's job once. Errors: ErrArgument,
// those of internal/job/boot, and the cause of ctx.
//
// A rank that fails when it has joined a job of several ranks aborts the job, with its error as the reason: the
// others could only wait for it. The launcher then ends all ranks, this one too, and prints the reason.
func Start(ctx context.Context, cfg Config) (*Rank, error) {
	o, err := cfg.readSettings()
	if err != nil {
		return nil, err
	}
	if ctx == nil {
		return nil, fmt.Errorf("%w: nil context", ErrArgument)
	}
	within, cancel := context.WithTimeout(ctx, settings.InitTimeout.Get(o.terms.Values))
	defer cancel()
	r, err := startWithin(within, o)
	return r, withCause(ctx, err)
}

// withCause adds to err why ctx has ended, if it has and err does not say so.
func withCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

func startWithin(ctx context.Context, o *options) (r *Rank, err error) {
	futex.MembarrierReady() // begins the registration, so that the kernel works at it while the job gathers
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	started := make(chan struct{})
	defer close(started)
	job, err := boot.Join(ctx, boot.WithEnv(o.lookup), boot.WithLost(func(job *boot.Job) {
		o.launcherLost(job)
		fail(boot.ErrLost)
		if <-started; r != nil {
			r.depart(1, fmt.Errorf("%w: %w", ErrAborted, boot.ErrLost))
		}
	}))
	if err != nil {
		return nil, err
	}
	if r, err = bringUp(ctx, job, o, true); err == nil {
		return r, nil
	}
	err = fmt.Errorf("rank %d of %d: %w", job.Rank-job.First, job.Mates, err)
	renounce(job, err) // before shut, which would tell of an end in order
	if r != nil {
		_ = r.shutAll(context.Background()) // the first error is the one to tell
	}
	return nil, err
}

// On brings a rank up on a job that the caller has joined, beside others if Config.Name tells them apart. All ranks of
// the job call it, in the same order. It blocks until all are ready, or ctx ends. The job stays the caller's: the rank
// does not end it, and its Exit gives ErrArgument. Errors: those of Start.
func On(ctx context.Context, job *Job, cfg Config) (*Rank, error) {
	o, err := cfg.readSettings()
	if err != nil {
		return nil, err
	}
	r, err := bringUp(ctx, job, o, false)
	if err != nil && r != nil {
		_ = r.shutAll(context.Background()) // the first error is the one to tell
		r = nil
	}
	return r, err
}

// renounce ends this rank's part in a job in which it cannot start, and with that the job.
func renounce(job *boot.Job, err error) {
	if job.Size > 1 && !jobOver(err) {
		_ = job.Abort(1, err.Error()) // the error is told to the caller, too
		return
	}
	_ = job.Finalize(context.Background()) // returns at once: nobody is left to wait for
}

// jobOver tells of errors with which others have ended the job.
func jobOver(err error) bool {
	var missing *boot.MissingError
	return errors.As(err, &missing) && missing.Ended ||
		errors.Is(err, boot.ErrAborted) || errors.Is(err, boot.ErrLost)
}

// bringUp starts the rank. If that fails and there is a Rank, it is to be shut.
func bringUp(ctx context.Context, job *boot.Job, o *options, owner bool) (*Rank, error) {
	s, err := cores.ShareAmongProcesses(ctx, job, o.terms.Values, o.terms.KeyName("cpus"))
	if err != nil {
		return nil, err
	}
	if s.Fixed != nil && settings.Debug.Get(o.terms.Values) {
		fmt.Fprintf(os.Stderr, "golci: rank %d: no thread is bound to a core: %v\n", job.Rank, s.Fixed)
	}
	pl := cores.PlanFor(o.terms.Values, s)
	pl.Share = affinity.Yield
	if o.Processors {
		cores.SpareProcessors(pl)
	}
	wire, err := wiring.OpenConduit(ctx, job, &o.terms)
	if err != nil {
		return nil, err
	}
	r, err := newRank(job, wire, o, pl, nil)
	if err != nil {
		_ = wire.Close() // the first error is the one to tell
		return nil, err
	}
	r.owner = owner
	return r, r.beginJob(ctx, pl)
}

// beginJob ends with the start barrier: no rank sends before all can take in whatever comes.
func (r *Rank) beginJob(ctx context.Context, pl cores.Plan) error {
	var err error
	if r.owner {
		if r.end, err = r.newEnder(); err != nil {
			return err
		}
	}
	if err := r.serveLayers(pl); err != nil {
		return err
	}
	if r.job.Size > 1 {
		err = r.together(ctx)
	}
	if err == nil {
		r.timeline.CountFrom()
	}
	return err
}

// together waits until the other ranks have come so far.
func (r *Rank) together(ctx context.Context) error {
	r.timeline.PublishStart()
	if err := r.job.Barrier(ctx); err != nil {
		return err
	}
	if err := r.job.Ready(); err != nil {
		return err
	}
	r.timeline.Align(ctx)
	if r.end != nil {
		r.end.LookForEnds()
	}
	return nil
}

const lostGrace = 300 * time.Millisecond // of a rank without launcher: an exit code may be on its way to it

// launcherLost ends a process after its launcher, if the rank may end it.
func (o *options) launcherLost(job *boot.Job) {
	time.Sleep(lostGrace)
	fmt.Fprintf(os.Stderr, "golci: rank %d: %s; ending\n", job.Rank, job.Loss())
	if o.Exit != nil {
		o.Exit(1)
	}
}
