package realm

import (
	"sync/atomic"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/progress"
	"github.com/golci/golci/internal/request"
	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/observe"
)

// Runtime is one rank's part of the system. Its methods may be called from any goroutine, light-weight thread or task,
// unless they say otherwise.
type Runtime struct {
	ev      events.Rank
	engine  *progress.Engine
	sched   *fult.Scheduler
	catalog *catalog

	locks      locks
	procs      processors
	utility    *processor
	down       event.ID    // triggers when the job is to end
	downAsked  atomic.Bool // a call of Shutdown on this rank has had its event; set before the root is told
	runners    runners
	greeting   registryCheck
	quiescence quiescence
	machine    machine
	collective collective
	data       data
	surveys    surveys

	coarseClock atomic.Uint64 // briskTime by the clock of log, 0 before Begin
	profilers   profilers

	ignoreQuestions atomic.Bool // questions of other ranks get no answer; set by tests

	// Memory of operations that are not in use.
	mergers  request.Pool[merger]
	sleepers request.Pool[sleeper]
	tasks    request.Pool[task]
	notices  request.Pool[notice]
	lockOps  request.Pool[lockOp]
	told     request.Pool[[]OperationProfile]
}

// Config says what a runtime has. The zero value has a CPU processor for each worker of the rank, a utility processor,
// and an IO processor.
type Config struct {
	CPUs int // CPU processors of this rank, up to 65,536; 0: one for each worker. Several may share a worker
	IO   int // tasks that the IO processor runs at once; 0: 64

	Memory  int64 // bytes that instances of the system memory may have; 0: 8 GiB
	Segment int64 // bytes of registered memory, by package am/rma; 0: none. All ranks have it, or none has
}

// defaultIO is the number of IO tasks that run at once. maxCPUs is how many CPU processors a rank may have.
const (
	defaultIO = 64
	maxCPUs   = 1 << 16
)

// New makes the runtime of rank r. It is called in rank.Config.Attach, on all ranks; Start and Run do that. Once the
// rank has started, Begin is to be called. New does not block. Errors: ErrArgument for numbers of cfg that
// cannot be, and for more than 65,536 ranks; those of rma.New and of rank.Rank.Attach.
func New(r *rank.Rank, cfg Config) (*Runtime, error) {
	rt := &Runtime{
		engine: r.Endpoint().Progress(), sched: r.Threads(),
		catalog: takeCatalog(),
	}
	rt.ev.InitRank(r)
	if rt.ev.Size > event.MaxRanks {
		return nil, rt.ev.CallErrorf("New", "%w: a job of %d ranks, the most is %d", ErrArgument, rt.ev.Size,
			event.MaxRanks)
	}
	rt.ev.Later, rt.ev.BlameFor, rt.ev.Reductions = rt.runLater, rt.blame, rt.reduction
	rt.ev.Parcels, rt.ev.Carriers = rt.parcelTable(), rt.carrierTable()
	rt.ev.Log.Init(observe.Config{
		Rank: r, Tasks: rt.catalog.names(), NameOf: func(x any) string { return nameOf(x.(executor)).String() },
		Later: rt.ev.Later, Deliver: rt.deliverProfiles,
	})
	if err := rt.makeProcessors(cfg); err != nil {
		return nil, err
	}
	rt.down = rt.ev.NewEvent()
	if err := rt.makeMemories(cfg); err != nil {
		return nil, err
	}
	rt.countInTimeline()
	if err := rt.makeCollective(); err != nil {
		return nil, err
	}
	layer := rank.Layer{
		Endpoint: rt.layer(), Report: rt.reportWaits, Ask: rt.circles, Unended: rt.unended, Meet: rt.meetQuiet,
		AnyDead: rt.anyDead, Stop: rt.stopAll,
	}
	if err := r.Attach(layer); err != nil {
		return nil, err
	}
	rt.ev.Endpoint.Pending().Attach(waitSource{rt})
	return rt, nil
}

// Rank is the number of this rank, Size the number of ranks of the job.
func (rt *Runtime) Rank() int { return rt.ev.Self }

// Size is the number of ranks of the job.
func (rt *Runtime) Size() int { return rt.ev.Size }
