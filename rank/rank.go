package rank

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/progress"
	"github.com/golci/golci/internal/transport/credit"
	"github.com/golci/golci/rank/internal/cores"
	"github.com/golci/golci/rank/internal/ending"
	"github.com/golci/golci/rank/internal/report"
	"github.com/golci/golci/rank/internal/timeline"
)

// Job is a rank's membership of its job.
type Job = boot.Job

// Rank is one rank of a job: a process, or one of several in a process. Its methods may be called from any goroutine,
// thread or handler, unless they say otherwise.
type Rank struct {
	// Fixed.
	job    *boot.Job
	owner  bool // of the job, which ends with this rank
	wire   conduit.Conduit
	ep     *am.Endpoint
	sched  *fult.Scheduler
	opts   *options
	shared bool  // shares its cores or its process with other ranks
	cpus   []int // where its threads may run
	team   *Team // nil for a process of its own

	// Set at the start, before there is traffic.
	server   *progress.Server    // nil without a dedicated server
	end      *ending.Ender       // nil in a Team, and where the job is somebody else's
	unlisten func()              // ends the dump on SIGQUIT; nil unless asked for
	stats    *report.CreditStats // likewise
	timeline *timeline.Timeline  // likewise

	attaching sync.Mutex
	layers    atomic.Pointer[[]Layer] // changed under attaching

	counted report.Counters
	report  report.Reporter

	untils pollWaits
	late   sync.WaitGroup        // aborts on their way
	final  atomic.Bool           // Finalize has begun
	blamed atomic.Bool           // the launcher knows that a peer has died
	over   atomic.Pointer[error] // why operations end; set once
	closed atomic.Bool           // everything has been let go
}

// Layer is what a package that works on a rank registers: what it has on the endpoint, and functions for reports and
// the end. They may be nil. They are called at any time until the rank has been finalized.
type Layer struct {
	// Endpoint is attached to the rank's endpoint, if it has a name. It stays empty where the layer attaches itself.
	Endpoint am.Layer
	Report   func(*Report) // adds what waits to a dump
	// Ask asks other ranks for what a report of this one cannot tell, such as a circle over several, and returns lines.
	// It makes progress, and returns when ctx ends.
	Ask func(ctx context.Context) []string
	// Unended is how many operations of this rank have not ended, for Finalize. first describes one of them.
	Unended func() (n int, first func() string)
	// Meet waits until every rank has called Finalize. It makes progress, and returns early when the rank ends.
	Meet func() error
	// Verdict is an error of the program that the layer has found in Meet, for Finalize to return. It does not wait.
	Verdict func() error
	// AnyDead reports whether Meet goes on without ranks that have died. Then Finalize calls Meet twice.
	AnyDead func() bool
	// Stop ends all operations that are pending, and later ones. It does not wait for other ranks. It is called again
	// for operations that were being started meanwhile.
	Stop func()
}

// Attach registers a layer. It is meant for Config.Attach; after that the rank may be polled already, so a layer that
// comes later is attached before any rank sends to it. It waits for a poll that is under way. Errors: those of
// am.Endpoint.Attach; the layer is not registered then.
func (r *Rank) Attach(l Layer) (err error) {
	r.attaching.Lock()
	defer r.attaching.Unlock()
	if l.Endpoint.Name != "" {
		r.ep.AsPoller(func() { err = r.ep.Attach(l.Endpoint) })
	}
	if err == nil {
		all := append(slices.Clip(r.attached()), l)
		r.layers.Store(&all)
	}
	return err
}

func (r *Rank) attached() []Layer {
	if all := r.layers.Load(); all != nil {
		return *all
	}
	return nil
}

// Rank is the number of this rank, from 0.
func (r *Rank) Rank() int { return r.job.Rank }

// Size is the number of ranks of the job.
func (r *Rank) Size() int { return r.job.Size }

// Job is the rank's membership of its job.
func (r *Rank) Job() *Job { return r.job }

// Conduit carries the rank's messages. The endpoint polls it, and nobody else may.
func (r *Rank) Conduit() conduit.Conduit { return r.wire }

// Endpoint is the rank's end of active messages. Register handlers in Config.Attach.
func (r *Rank) Endpoint() *am.Endpoint { return r.ep }

// Threads is the scheduler of the rank's light-weight threads. A panic in a thread started there is kept for Join.
func (r *Rank) Threads() *fult.Scheduler { return r.sched }

// Settings are the values of all settings.
func (r *Rank) Settings() *settings.Set { return r.opts.terms.Values }

// Shared reports whether the rank shares its process, or its cores, with other ranks. Large tables are then a waste.
func (r *Rank) Shared() bool { return r.shared }

// CPUs are the processors on which the threads of the rank may run, by the numbers of the system. There are none where
// the system does not tell them. The caller must not change the slice.
func (r *Rank) CPUs() []int { return r.cpus }

// Eager is the largest message in bytes that is worth sending without asking its receiver, as EagerLimit tells it.
func (r *Rank) Eager() int { return r.opts.terms.EagerLimit(r.job.Size) }

// LongEager is the largest message in bytes that a record of this job holds without being made for it: one that may be
// worth sending so. It is Eager or more.
func (r *Rank) LongEager() int { return r.opts.terms.Longest(r.job.Size) }

// Hint says that up to n messages of so many bytes will be on their way to each of the peers at a time. Receive space
// is then lent beforehand. It does nothing where loans do not follow demand. It does not block.
func (r *Rank) Hint(n, bytes int, peers ...int) {
	if r.ep.Terms().Mode == credit.Dynamic {
		r.ep.Hint(n*credit.Cost(bytes), peers...)
	}
}

// Go starts f as a light-weight thread and returns at once. A panic of f ends the job, as in any Go program; in a Team
// only the thread ends, and Join returns the panic. Errors: ErrArgument, ErrFinalized, ErrAborted, fult.ErrTooMany.
func (r *Rank) Go(f func()) (fult.Handle, error) {
	if f == nil {
		return fult.Handle{}, r.rankErrorf("Go", "%w: nil function", ErrArgument)
	}
	if err := r.Ended(); err != nil {
		return fult.Handle{}, r.rankErrorf("Go", "%w", err)
	}
	return r.sched.Go(func(*fult.Thread) {
		defer r.threadPanicked()
		f()
	})
}

// rankErrorf makes the error of a call.
func (r *Rank) rankErrorf(call, format string, args ...any) error {
	return fmt.Errorf("%s: %s: rank %d: "+format, append([]any{r.opts.Caller, call, r.job.Rank}, args...)...)
}

// newRank makes a rank over its conduit, which nothing polls yet.
func newRank(job *boot.Job, wire conduit.Conduit, o *options, pl cores.Plan, t *Team) (*Rank, error) {
	r := &Rank{job: job, wire: wire, opts: o, team: t, shared: pl.Crowded || t != nil, cpus: pl.CPUs}
	sc := schedulerConfig(o, pl)
	sc.OnStuck = r.reportStuck
	var err error
	if r.sched, err = fult.New(sc); err != nil {
		return nil, err
	}
	r.report = report.Reporter{
		Job: job, Threads: r.sched, How: settings.Dump.Get(o.terms.Values), Collect: r.collectReport, Ask: r.askLayers,
		Unended: r.unendedOps, Finalizing: r.final.Load, Closed: r.closed.Load,
	}
	ec := endpointConfig(o, pl, job.Size)
	ec.Scheduler, ec.Fatal = r.sched, r.fatal
	r.timeline = timeline.Start(job, o.terms.Values, r.sched, o.terms.KeyName("trace"))
	if r.ep, err = am.New(r.timeline.RecordOver(wire), ec); err != nil {
		r.timeline.Close()
		return nil, errors.Join(err, r.sched.Close())
	}
	if err := r.timeline.FollowEndpoint(r.ep); err != nil {
		r.timeline.Close()
		return nil, errors.Join(err, r.sched.Close())
	}
	r.untils.ep = r.ep
	r.counted = report.Counters{Rank: job.Rank, Threads: r.sched, Endpoint: r.ep, Wire: wire}
	if err := r.sched.SetPoller(r.ep.Progress().Poller()); err != nil { // else threads would hang
		r.timeline.Close()
		return nil, errors.Join(err, r.sched.Close())
	}
	return r, nil
}

// serveLayers attaches the layers, and then starts the poller that the plan chooses.
func (r *Rank) serveLayers(pl cores.Plan) error {
	r.foretell()
	if f := r.opts.Attach; f != nil {
		if err := f(r); err != nil {
			return fmt.Errorf("attaching: %w", err)
		}
	}
	if pl.Dedicated {
		r.server = r.ep.Progress().Dedicate(pl.ServerCPU)
	}
	if pl.Eagerly {
		if _, err := r.sched.Go(func(*fult.Thread) {}); err != nil { // the first thread starts the workers
			return err
		}
	}
	if r.opts.QuitDump {
		r.unlisten = report.OnQuit(&r.report)
	}
	r.stats = report.StartCreditStats(settings.TraceOf(r.opts.terms.Values).Credits, r.job, r.ep)
	return nil
}

// schedulerConfig is the configuration of the scheduler. The caller sets OnStuck.
func schedulerConfig(o *options, pl cores.Plan) fult.Config {
	scheduler := settings.Scheduler.Get(o.terms.Values)
	kind := fult.Fult
	if scheduler == fult.Goroutines.String() {
		kind = fult.Goroutines
	}
	return fult.Config{
		Kind: kind, Unchecked: scheduler == fult.Fult.String(),
		Workers: pl.Workers, Pin: pl.Pin, MaxThreads: settings.Threads.Get(o.terms.Values),
		StuckAfter: stuckTime(o), Spin: workerSpin(spinTime(o)), Crowded: pl.Tight,
	}
}

// ThreadKind returns the kind of threads that a rank with that configuration would have. why is not nil where cfg
// asks for coroutines and gets goroutines instead: it is the reason (fult.Config.Effective). It starts no rank, and
// does not block or switch threads. Error: ErrArgument.
func ThreadKind(cfg Config) (kind fult.Kind, why, err error) {
	o, err := cfg.readSettings()
	if err != nil {
		return 0, nil, err
	}
	kind, why = schedulerConfig(o, cores.Plan{}).Effective()
	return kind, why, nil
}

// stuckTime is negative for never.
func stuckTime(o *options) time.Duration { return cmp.Or(settings.Stuck.Get(o.terms.Values), -1) }

// endpointConfig is the configuration of the endpoint. The caller sets Scheduler and Fatal.
func endpointConfig(o *options, pl cores.Plan, size int) am.Config {
	return am.Config{
		Credits: o.terms.Credits(size), Poll: o.terms.Tuning.PollRequests,
		Progress: progress.Config{
			Spin: spinTime(o) * pl.Turns(), Crowded: pl.Crowded, Share: pl.Share, Dedicated: pl.Dedicated,
		},
	}
}

// spinTime is negative for not at all.
func spinTime(o *options) time.Duration { return cmp.Or(settings.Spin.Get(o.terms.Values), -1) }

// workerSpin leaves the default to the scheduler, which looks at the processors.
func workerSpin(spin time.Duration) time.Duration {
	if spin == progress.DefaultSpin {
		return 0
	}
	return spin
}
