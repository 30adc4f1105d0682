package rank

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/rank/internal/ending"
)

// How a job ends. Begin to read here; the other files are finalize.go and follows.go.
//
//	Finalize   every rank calls it: all meet, settle what is under way, and let go of everything (finalize.go,
//	           internal/ending)
//	Exit       any rank calls it: all agree on the greatest exit code, and their processes end with it (package
//	           internal/ending drives the state machine of internal/job/exit over the plane of internal/job/boot)
//	Abort      any rank calls it, or a fault, a panic or the loss of the launcher does: the launcher is told, and ends
//	           the others at once (here)
//	SIGQUIT    the rank writes its dump, and the process ends (package internal/report)
//	Team       ranks of one process: Exit and Abort end the operations of all, and Team.Run returns why (team.go)
//
// Rank.stopOps ends the operations, Rank.depart the process. The launcher sees to the others: docs/design/exit.md.

// ExitError says that a rank of Run has ended the job by Exit.
type ExitError struct {
	Rank int // that called Exit
	Code int // 0 to 255
}

// Error names rank and code.
func (e *ExitError) Error() string {
	return fmt.Sprintf("rank %d ended the job with code %d", e.Rank, e.Code)
}

// Exit ends the job in order, all its ranks, with exit code code, of which the lowest eight bits count, as for the
// operating system. Any rank may call it at any time after the start, from any goroutine, thread or handler, whatever
// the others do; they need not poll. If several ranks call it, the greatest code becomes that of all. It takes about
// 2 log2 N messages of each rank, and is enforced after the time of GOLCI_EXITTIMEOUT.
//
// With Config.Exit it ends the process and does not return; deferred functions do not run. Without, and in a Team, the
// pending and later operations of all ranks end with ErrAborted and an *ExitError, and so does Exit; Team.Run returns
// the *ExitError. A process that goes on then is to end soon: the launcher ends what is left.
func (r *Rank) Exit(code int) error {
	if r.team != nil {
		e := &ExitError{Rank: r.job.Rank, Code: code & 0xff}
		r.team.exit(e)
		return fmt.Errorf("%w: %w", ErrAborted, e)
	}
	if r.end == nil {
		return r.rankErrorf("Exit", "%w: the job is not this rank's to end", ErrArgument)
	}
	r.end.Exit(code)
	return r.Ended()
}

// Abort ends the job, all its ranks, with exit code code (1 to 255) and err as the reason. Unlike Exit it does not wait
// for the others' exit codes. With Config.Exit it ends the process and does not return. Without, and in a Team, the
// operations of this rank, or of all ranks of the Team, end with ErrAborted and err, and so does Abort.
func (r *Rank) Abort(code int, err error) error {
	if err == nil {
		err = fmt.Errorf("rank %d called Abort with code %d", r.job.Rank, code)
	}
	if r.team != nil {
		r.team.abortAll(r.job.Rank, err)
		return fmt.Errorf("%w by rank %d: %w", ErrAborted, r.job.Rank, err)
	}
	r.abortProcess(code, err)
	return r.Ended()
}

// Ended tells why operations cannot start any more, or nil.
func (r *Rank) Ended() error {
	if e := r.over.Load(); e != nil {
		return *e
	}
	return nil
}

// AwaitEnd returns at once, unless the job has begun to end by Exit; then the process ends before it returns, or
// without Config.Exit the operations do. A layer calls it before it gives the program the error of an operation, which
// the end of other ranks may have caused.
func (r *Rank) AwaitEnd() {
	if r.end != nil {
		r.end.Await()
	}
}

// newEnder drives the rank's part in the end of its job.
func (r *Rank) newEnder() (*ending.Ender, error) {
	return ending.New(ending.Config{
		Job: r.job, Wire: r.wire, Values: r.opts.terms.Values, Settle: r.opts.terms.Tuning.ExitSettle,
		Agreed: func(rank, code int) {
			r.depart(code, fmt.Errorf("%w: %w", ErrAborted, &ExitError{Rank: rank, Code: code}))
		},
		TooLate: func(code int) { r.depart(code, ErrFinalized) },
	})
}

// stopOps ends all operations with the given reason; the first one counts. Threads that wait for no operation, but in
// package fult, unwind: whoever would wake them may have ended.
func (r *Rank) stopOps(reason error) {
	r.over.CompareAndSwap(nil, &reason)
	for _, l := range r.attached() {
		if l.Stop != nil {
			l.Stop()
		}
	}
	r.ep.Close()
	r.untils.wake(nil)
	r.sched.Abort() // last: threads in operations have their errors to return
}

// depart ends the process, or if it is to go on, the rank's operations.
func (r *Rank) depart(code int, reason error) {
	if f := r.opts.Exit; f != nil {
		r.timeline.Close()
		f(code)
	}
	r.stopOps(reason)
	if r.end != nil {
		r.end.LetGo()
	}
}

// fatal is told of faults that no caller can be told of. It may be called inside a poll, with locks held.
func (r *Rank) fatal(err error) {
	err = fmt.Errorf("rank %d: %w", r.job.Rank, err)
	switch {
	case r.team != nil:
		r.team.late.Go(func() { r.team.abortAll(r.job.Rank, err) }) // the caller may hold locks
	case r.opts.Exit == nil:
		r.late.Go(func() { r.abortUnlessEnding(1, err) }) // which ends operations, and they want the locks
	default:
		r.abortUnlessEnding(1, err)
	}
}

func (r *Rank) abortUnlessEnding(code int, err error) {
	r.AwaitEnd()
	r.abortProcess(code, err)
}

const lastWords = 50 * time.Millisecond // for a foreign launcher to read why a rank aborts

// abortProcess ends the job, and this process.
func (r *Rank) abortProcess(code int, err error) {
	if code < 1 || code > 255 {
		code = 1
	}
	fmt.Fprintf(os.Stderr, "golci: rank %d of %d: the job is aborted: %v\n", r.job.Rank-r.job.First, r.job.Mates, err)
	if l := r.job.Launcher; l != boot.LauncherGolci && l != boot.LauncherSingle {
		time.Sleep(lastWords)
	}
	if r.end != nil && !r.end.AbortOthers(code) {
		return
	}
	reason, _, _ := strings.Cut(err.Error(), "\n") // the stack of a panic is printed already
	if e := r.job.Abort(code, reason); e != nil {
		fmt.Fprintf(os.Stderr, "golci: rank %d: telling the launcher: %v\n", r.job.Rank, e)
	}
	r.depart(code, fmt.Errorf("%w by rank %d: %w", ErrAborted, r.job.Rank, err))
}

const panicCode = 2 // of a Go program that panics

// threadPanicked is deferred in threads of a job of processes. A panic there ends the job: nobody may ever join it.
func (r *Rank) threadPanicked() {
	if r.team != nil {
		return
	}
	if v := recover(); v != nil {
		r.abortProcess(panicCode, fmt.Errorf("panic in a thread: %v\n%s", v, debug.Stack()))
	}
}
