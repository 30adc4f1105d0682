package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/boot"
	"github.com/golci/golci/internal/conduit/local"
	"github.com/golci/golci/internal/conduit/portals"
	"github.com/golci/golci/internal/conduit/shm"
	"github.com/golci/golci/internal/conduit/udp"
	"github.com/golci/golci/internal/progress"
	"github.com/golci/golci/internal/settings"
)

// Init joins this process to its job as one rank (11.2), and blocks until all ranks are ready or the time of GOLCI_INIT_TIMEOUT is
// over; the error then names the ranks that did not come, as far as the launcher lets that be known. Without a launcher the job
// has one rank. A process can join its launcher's job once. Where GOMAXPROCS is not set in the environment, Init raises it to one
// more than the threads that poll. Errors: ErrArgument, and those of internal/boot.
//
// A rank that fails when it has joined a job of several ranks aborts the job, with its error as the reason: the
// others could only wait for it. The launcher then ends all ranks, this one too, and prints the reason.
func Init(opts ...Option) (*Proc, error) { return InitContext(context.Background(), opts...) }

// InitContext is Init that gives up when ctx ends, if that is before the time of GOLCI_INIT_TIMEOUT. The error then also wraps the cause
// of ctx, which is ErrArgument for a nil one.
func InitContext(ctx context.Context, opts ...Option) (*Proc, error) {
	ctx = orNone(ctx)
	o, err := readOptions(opts)
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, settings.InitTimeout.Get(o.values))
	defer cancel()
	p, err := initWithin(within, o)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return p, err
}

func initWithin(ctx context.Context, o *options) (*Proc, error) {
	job, err := boot.Join(ctx, boot.WithEnv(o.lookup))
	if err != nil {
		return nil, fmt.Errorf("mpi: Init: %w", err)
	}
	p, err := initJob(ctx, job, o)
	if err == nil {
		return p, nil
	}
	err = fmt.Errorf("mpi: Init: rank %d of %d: %w", job.Rank, job.Size, err)
	renounce(job, err) // before shut, which would tell of an end in order
	if p != nil {
		_ = p.shut(context.Background()) // the first error is the one to tell
	}
	return nil, err
}

// renounce ends this rank's part in a job in which it cannot start, and with that the job: the others wait for this
// rank.
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

// initJob starts the rank. If that fails and there is a Proc, it is to be shut.
func initJob(ctx context.Context, job *boot.Job, o *options) (*Proc, error) {
	s, err := shareAmongProcesses(ctx, job, settings.Bind.Get(o.values) == "core")
	if err != nil {
		return nil, err
	}
	if s.fixed != nil && settings.Debug.Get(o.values) {
		fmt.Fprintf(os.Stderr, "golci: rank %d: no thread is bound to a core: %v\n", job.Rank, s.fixed)
	}
	pl := planFor(o, s)
	pl.entries = tableEntries(o, pl.workers, pl.crowded)
	spareProcessors(pl)
	wire, err := openConduit(ctx, job, o)
	if err != nil {
		return nil, err
	}
	p, err := newProc(job, wire, o, pl, nil)
	if err != nil {
		_ = wire.Close() // the first error is the one to tell
		return nil, err
	}
	return p, p.begin(ctx, o)
}

// begin is the start barrier: no rank sends before all can take in whatever comes.
func (p *Proc) begin(ctx context.Context, o *options) error {
	var err error
	if p.end, err = newEnder(p, o.values); err != nil {
		return err
	}
	if err := p.attach(o); err != nil || p.job.Size == 1 {
		return err
	}
	return p.job.Barrier(ctx)
}

func (p *Proc) attach(o *options) error {
	for _, f := range o.attach {
		if err := f(p.srv); err != nil {
			return fmt.Errorf("attaching: %w", err)
		}
	}
	if len(o.attach) > 0 {
		p.showPollers()
	}
	return nil
}

// showPollers has whoever polls next see what has been registered: a dedicated server may be running already. What orders it after
// this goroutine is the message that it finds, sent after the start barrier; the race detector, which cannot follow that through
// another process, sees the lock of the polling.
func (p *Proc) showPollers() {
	for p.srv.Poll() < 0 {
		runtime.Gosched()
	}
}

// WithAttach has f called on every rank before the start barrier, after which the first message can be sent: the place to
// register handlers for active messages. Init, or Run, fails with f's error. It must not send, nor wait for other ranks.
func WithAttach(f func(srv *comm.Server) error) Option {
	return func(o *options) { o.attach = append(o.attach, f) }
}

// openConduit connects the ranks.
func openConduit(ctx context.Context, job *boot.Job, o *options) (conduit.Conduit, error) {
	cfg := conduitConfig(o, job.Size)
	name := settings.Conduit.Get(o.values)
	if job.Size == 1 && name != shm.Name {
		all, err := local.New(1, cfg)
		if err != nil {
			return nil, err
		}
		return all[0], nil
	}
	if name == local.Name || name == portals.Name {
		return nil, fmt.Errorf("%w: the %s conduit joins the ranks of one process, and this job has %d processes",
			ErrArgument, name, job.Size)
	}
	if name == udp.Name || elsewhere(job) {
		return openNetwork(ctx, job, o)
	}
	return openShared(job, o)
}

// Sizes of the matching table: an entry for each thread that may wait, and for packets besides.
const (
	packetEntries = 1 << 15
	maxEntries    = 1 << 20
	sharedEntries = 1 << 12 // of a rank that shares its process or its core, unless threads were asked for
)

func tableEntries(o *options, workers int, shared bool) int {
	if shared && !o.threads {
		return sharedEntries
	}
	return min(maxEntries, workers*settings.Threads.Get(o.values)+packetEntries)
}

// newProc starts a rank over its conduit.
func newProc(job *boot.Job, wire conduit.Conduit, o *options, pl plan, tm *team) (*Proc, error) {
	p := &Proc{job: job, wire: wire, team: tm, restore: func() {}, stuckAfter: stuckTime(o), checked: checked(o, tm != nil)}
	p.stacks = settings.Dump.Get(o.values) == "stacks"
	sc := schedulerConfig(o, pl)
	sc.OnStuck = p.reportStuck
	var err error
	if p.sched, err = fult.New(sc); err != nil {
		return nil, err
	}
	cfg := serverConfig(o, pl, job.Size)
	cfg.Scheduler, cfg.Fatal = p.sched, p.fatal
	if p.srv, err = comm.New(wire, cfg); err != nil {
		return nil, errors.Join(err, p.sched.Close())
	}
	p.communicators()
	if pl.eagerly {
		if _, err := p.sched.Go(func(*fult.Thread) {}); err != nil { // the first thread starts the workers
			p.srv.Close()
			return nil, errors.Join(err, p.sched.Close())
		}
	}
	if !o.noQuit {
		p.restore = quitDumps.add(p)
	}
	p.stats = startCreditStats(p, o)
	return p, nil
}

// schedulerConfig lacks whom to tell of workers that are stuck.
func schedulerConfig(o *options, pl plan) fult.Config {
	scheduler := settings.Scheduler.Get(o.values)
	kind := fult.Fult
	if scheduler == fult.Goroutines.String() {
		kind = fult.Goroutines
	}
	return fult.Config{
		Kind: kind, Unchecked: scheduler == fult.Fult.String(),
		Workers: pl.workers, Pin: pl.pin, MaxThreads: settings.Threads.Get(o.values),
		StuckAfter: stuckTime(o), Spin: workerSpin(spinTime(o)),
	}
}

// ThreadKind tells what the threads of a rank with those options and the environment are. why is the reason where they
// should be coroutines and are goroutines (fult.Config.Effective). It does not block or switch threads. Error:
// ErrArgument.
func ThreadKind(opts ...Option) (kind fult.Kind, why, err error) {
	o, err := readOptions(opts)
	if err != nil {
		return 0, nil, err
	}
	kind, why = schedulerConfig(o, plan{}).Effective()
	return kind, why, nil
}

// stuckTime is negative for never.
func stuckTime(o *options) time.Duration {
	if d := settings.Stuck.Get(o.values); d != 0 {
		return d
	}
	return -1
}

// serverConfig lacks the scheduler and whom to tell of faults.
func serverConfig(o *options, pl plan, size int) comm.Config {
	return comm.Config{
		Eager: eager(o), Unexpected: int(settings.Unexpected.Get(o.values)),
		Credits: terms(o, size), Poll: settings.AMLimit.Get(o.values),
		Entries: pl.entries, Dedicated: pl.dedicated, DedicatedCPU: pl.serverCPU,
		Progress: progress.Config{Spin: spinTime(o), Crowded: pl.crowded},
	}
}

// spinTime is negative for not at all.
func spinTime(o *options) time.Duration {
	if spin := settings.Spin.Get(o.values); spin != 0 {
		return spin
	}
	return -1
}

// workerSpin leaves the default to the scheduler, which looks at the processors.
func workerSpin(spin time.Duration) time.Duration {
	if spin == progress.DefaultSpin {
		return 0
	}
	return spin
}

func (p *Proc) communicators() {
	all := make([]int32, p.job.Size)
	for i := range all {
		all[i] = int32(i)
	}
	p.ids.init(p.srv)
	p.srv.OnNotice(p.noticed)
	p.world = newComm(p, worldID, worldUID, all, p.job.Rank)
	p.self = newComm(p, selfID, selfUID, []int32{int32(p.job.Rank)}, 0)
}
