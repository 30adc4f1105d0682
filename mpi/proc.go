package mpi

import (
	"context"
	"errors"
	"io"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/rank"
)

// Proc is one rank of a job: a process, or one of several in a process. Its methods may be called from anywhere.
type Proc core.Proc

// core is p as the layer below knows it. The two are one object.
func (p *Proc) core() *core.Proc { return (*core.Proc)(p) }

// World is the communicator of all ranks.
func (p *Proc) World() *Comm { return (*Comm)(p.core().World()) }

// Self is the communicator of this rank alone.
func (p *Proc) Self() *Comm { return (*Comm)(p.core().Self()) }

// Launcher names what has started the job, as in `golci info`.
func (p *Proc) Launcher() string { return p.Job().Launcher }

// Go starts f as a light-weight thread of this rank and returns at once; Parallel starts several and waits for them.
// The thread may communicate like any goroutine, and lets others run while it waits. Other blocking calls block the
// worker that it shares with them. A thread uses fult.Recv(nil, ch) and fult.Send(nil, ch, v) for Go channels,
// fult.Mutex and the like for locks, and fult.Blocking(nil, f) for anything else. A thread that serves others for as
// long as the job lasts is best ended by the context of its RecvContext.
//
// If f panics, that ends the job, as it ends a Go program; in Run only the thread ends, and Join returns the panic.
// Errors: ErrArgument, ErrFinalized, ErrAborted, fult.ErrTooMany.
func (p *Proc) Go(f func()) (fult.Handle, error) { return p.core().OfRank().Go(f) }

// Threads is the scheduler of this rank's light-weight threads, for packages that build on it. A panic in a thread
// that is started there is kept for Join.
func (p *Proc) Threads() *fult.Scheduler { return p.core().OfRank().Threads() }

// Server is the communication server below, for packages that build on active messages.
func (p *Proc) Server() *comm.Server { return p.core().Server() }

// Job is this rank's membership of the job.
func (p *Proc) Job() *rank.Job { return p.core().OfRank().Job() }

// Finalize ends the rank's part in the job (11.4). Every rank must call it, when its operations are done. It waits
// for all ranks, making progress meanwhile, and then lets go of everything. It blocks.
//
// Threads and operations that can still end by themselves do so: Finalize waits while any of them ends or a thread
// computes. Threads and operations that have not ended 100 ms after the last of these are left over. If threads are
// goroutines, as under the race detector, this time is 1 s. It ends with ErrFinalized, and Finalize returns
// ErrPending, which tells how many threads and operations there are.
//
// Later operations give ErrFinalized, and so does a second call. In a light-weight thread it gives ErrThread.
func (p *Proc) Finalize() error { return p.FinalizeContext(context.Background()) }

// FinalizeContext is Finalize that gives up when ctx ends. The error then wraps the cause of ctx, and names the rank
// or the thread that it waited for. The rank has been finalized all the same: operations that are pending end with
// ErrFinalized. A thread that does not end keeps what it uses. A nil ctx counts as one that has ended, with
// ErrArgument.
func (p *Proc) FinalizeContext(ctx context.Context) error {
	return errors.Join(p.dropAttributes(), p.core().OfRank().Finalize(core.OrNone(ctx)))
}

// dropAttributes deletes those of the communicator of this rank alone, by which libraries learn of the end (11.2.4).
func (p *Proc) dropAttributes() error {
	if p.core().OfRank().Ended() != nil {
		return nil
	}
	return p.Self().attributes().Discard()
}

// Exit ends the job with all its ranks in order, with exit code code. As for the operating system, the lowest eight
// bits count. Any rank may call it at any time after Init, from any goroutine, thread or handler, whatever the others
// do; they need not poll. If several ranks call it, the greatest code becomes that of all. It takes about 2 log2 N
// messages of each rank, and is enforced after the time of GOLCI_EXITTIMEOUT. Deferred functions do not run.
//
// In a job of processes it does not return. In Run the pending and later operations of all ranks end with ErrAborted,
// Run returns an *ExitError, and Exit the same as the operations.
func (p *Proc) Exit(code int) error { return p.core().OfRank().Exit(code) }

// Abort ends the job, all its ranks, with exit code code (1 to 255) and err as the reason (9.4). In a job of
// processes it ends this one, too, and does not return. In Run the pending operations of all ranks end with
// ErrAborted, Run returns the error, and so does Abort. Unlike Exit it does not wait for the others' exit codes.
func (p *Proc) Abort(code int, err error) error { return p.core().OfRank().Abort(code, err) }

// Dump writes to w, in one write, a report of what the rank waits for. It lists calls by name, with peer, tag and
// bytes. It lists messages that nobody has received, and threads. Threads that wait in the same call are one line. It
// does not wait for communication.
func (p *Proc) Dump(w io.Writer) { p.core().OfRank().Dump(w) }
