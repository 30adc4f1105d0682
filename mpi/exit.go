package mpi

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/golci/golci/internal/boot"
)

// ExitError says that a rank of Run has ended the job by Exit.
type ExitError struct {
	Rank int // that called Exit
	Code int // 0 to 255
}

// Error names rank and code.
func (e *ExitError) Error() string {
	return fmt.Sprintf("rank %d ended the job with code %d", e.Rank, e.Code)
}

// orNil is nil for the code of success.
func (e *ExitError) orNil() error {
	if e.Code == 0 {
		return nil
	}
	return e
}

// Exit ends the job in order, all its ranks, with exit code code, of which the lowest eight bits count, as for the operating
// system. Any rank may call it at any time after Init, from any goroutine, thread or handler, whatever the others do; they need
// not poll. If several ranks call it, the greatest code becomes that of all. It takes about 2 log2 N messages of each rank, and is
// enforced after the time of GOLCI_EXITTIMEOUT. Deferred functions do not run.
//
// In a job of processes it does not return. In Run the pending and later operations of all ranks end with ErrAborted, Run
// returns an *ExitError, and Exit the same as the operations.
func (p *Proc) Exit(code int) error {
	if p.team != nil {
		e := &ExitError{Rank: p.job.Rank, Code: code & 0xff}
		p.team.exit(e)
		return fmt.Errorf("%w: %w", ErrAborted, e)
	}
	p.end.exit(code)
	return nil
}

// Abort ends the job, all its ranks, with exit code code (1 to 255) and err as the reason (9.4). In a job of processes it ends this one,
// too, and does not return. In Run the pending operations of all ranks end with ErrAborted, Run returns the error, and so does
// Abort. Unlike Exit it does not wait for the others' exit codes.
func (p *Proc) Abort(code int, err error) error {
	if err == nil {
		err = fmt.Errorf("rank %d called Abort with code %d", p.job.Rank, code)
	}
	if p.team != nil {
		p.team.abort(p.job.Rank, err)
		return fmt.Errorf("%w by rank %d: %w", ErrAborted, p.job.Rank, err)
	}
	p.abort(code, err)
	return nil
}

// fatal is told of faults that no caller can be told of. It may be called inside a poll, with locks held.
func (p *Proc) fatal(err error) {
	err = fmt.Errorf("rank %d: %w", p.job.Rank, err)
	if p.team != nil {
		p.team.abortLater(p.job.Rank, err)
		return
	}
	p.stayUntilEnd()
	p.abort(1, err)
}

// lastWords is the time that a foreign launcher gets to read why a rank aborts. It may read no more once a rank has ended.
const lastWords = 50 * time.Millisecond

// abort ends the job and this process.
func (p *Proc) abort(code int, err error) {
	if code < 1 || code > 255 {
		code = 1
	}
	fmt.Fprintf(os.Stderr, "golci: rank %d of %d: the job is aborted: %v\n", p.job.Rank, p.job.Size, err)
	if l := p.job.Launcher; l != boot.LauncherGolci && l != boot.LauncherSingle {
		time.Sleep(lastWords)
	}
	if p.end != nil { // else the rank is only just starting
		p.end.abort(code)
	}
	if e := p.job.Abort(code, err.Error()); e != nil {
		fmt.Fprintf(os.Stderr, "golci: rank %d: telling the launcher: %v\n", p.job.Rank, e)
	}
	os.Exit(code)
}

// stayUntilEnd does not return once the job has begun to end. The ranks that are the first to go take the others' operations
// with them, and what the program would make of their errors is not to count.
func (p *Proc) stayUntilEnd() {
	if p.end != nil && p.end.begun.Load() {
		select {}
	}
}

// panicCode is the exit code of a Go program that panics.
const panicCode = 2

// threadPanicked is deferred in the threads of a job of processes: a panic that nobody may ever join, while other ranks
// wait for the thread, ends the job.
func (p *Proc) threadPanicked() {
	if p.team != nil {
		return
	}
	if v := recover(); v != nil {
		p.abort(panicCode, fmt.Errorf("panic in a thread: %v\n%s", v, debug.Stack()))
	}
}
