package mpi

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/boot"
)

// Proc is one rank of a job: a process, or one of several in a process. Its methods may be called from anywhere.
type Proc struct {
	job     *boot.Job
	wire    conduit.Conduit
	srv     *comm.Server
	sched   *fult.Scheduler
	world   *Comm
	self    *Comm
	ids     contexts
	colls   colls
	team    *team  // of Run; nil for a process of its own
	end     *ender // of a process of its own; nil in Run
	restore func()
	stats   *creditStats // nil unless asked for
	names   names        // of communicators
	checked bool         // types are checked; fixed

	stacks     bool          // a report on SIGQUIT has stacks
	stuckAfter time.Duration // when a thread that does not move is reported; negative for never

	final  atomic.Bool           // Finalize has begun
	over   atomic.Pointer[error] // why operations end; set once
	closed atomic.Bool           // everything has been let go
}

// World is the communicator of all ranks.
func (p *Proc) World() *Comm { return p.world }

// Self is the communicator of this rank alone.
func (p *Proc) Self() *Comm { return p.self }

// Launcher names what has started the job, as in `golci info`.
func (p *Proc) Launcher() string { return p.job.Launcher }

// Go starts f as a light-weight thread of this rank and returns at once; Parallel starts several and waits for them. The thread may
// communicate like any goroutine, and lets others run while it waits. What blocks otherwise blocks the worker that it shares with them:
// a thread uses fult.Recv(nil, ch) and fult.Send(nil, ch, v) for Go channels, fult.Mutex and the like for locks, and
// fult.Blocking(nil, f) for anything else. A thread that serves others for as long as the job lasts is best ended by the context of
// its RecvContext.
//
// If f panics, that ends the job, as it ends a Go program; in Run only the thread ends, and Join returns the panic.
// Errors: ErrArgument, ErrFinalized, ErrAborted, fult.ErrTooMany.
func (p *Proc) Go(f func()) (fult.Handle, error) {
	if f == nil {
		return fult.Handle{}, fmt.Errorf("mpi: Go: rank %d: %w: nil function", p.job.Rank, ErrArgument)
	}
	if err := p.ended(); err != nil {
		return fult.Handle{}, fmt.Errorf("mpi: Go: rank %d: %w", p.job.Rank, err)
	}
	return p.sched.Go(func(*fult.Thread) {
		defer p.threadPanicked()
		f()
	})
}

// Threads is the scheduler of this rank's light-weight threads, for packages that build on it. A panic in a thread that is started
// there is kept for Join.
func (p *Proc) Threads() *fult.Scheduler { return p.sched }

// Server is the communication server below, for packages that build on active messages.
func (p *Proc) Server() *comm.Server { return p.srv }

// Job is this rank's membership of the job.
func (p *Proc) Job() *boot.Job { return p.job }

// ended tells why operations cannot start, or nil.
func (p *Proc) ended() error {
	if e := p.over.Load(); e != nil {
		return *e
	}
	return nil
}

// stop has all operations end with the given reason; the first one counts.
func (p *Proc) stop(reason error) {
	p.over.CompareAndSwap(nil, &reason)
	p.srv.Close()
}

// cause gives the reason behind the error of an operation that ended because the rank did.
func (p *Proc) cause(err error) error {
	p.stayUntilEnd()
	err = typed(err)
	if errors.Is(err, comm.ErrClosed) {
		if e := p.ended(); e != nil {
			return e
		}
	}
	return err
}
