package mpi

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi/internal/core"
)

// Parallel runs f(0) to f(n-1) as n light-weight threads of this rank and waits until all have ended. It joins their
// errors in the order of their numbers, each as a *ThreadError. A panic of f becomes one that holds a
// *fult.PanicError, and does not end the job. See Go for what a thread may do. It blocks, and may switch threads.
// Errors besides those of f: ErrArgument for a nil f or a negative n, ErrFinalized, ErrAborted, and fult.ErrTooMany
// if more threads would be alive at once than allowed (GOLCI_THREADS). With ErrTooMany no thread has been started.
func (p *Proc) Parallel(n int, f func(i int) error) error {
	if f == nil {
		return p.ParallelContext(context.Background(), n, nil)
	}
	return p.ParallelContext(context.Background(), n, func(_ context.Context, i int) error { return f(i) })
}

// ParallelContext is Parallel with a context for f. It ends when ctx ends, or when the first thread fails. Its cause
// is then the *ThreadError of that thread. Errors of other threads that only follow from it are left out. Threads
// that do not look at the context are waited for. A nil ctx counts as one that has ended, with ErrArgument.
func (p *Proc) ParallelContext(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	switch {
	case f == nil:
		return fmt.Errorf("mpi: Parallel: rank %d: %w: nil function", p.core().OfRank().Rank(), ErrArgument)
	case n < 0:
		return fmt.Errorf("mpi: Parallel: rank %d: %w: %d threads", p.core().OfRank().Rank(), ErrArgument, n)
	}
	if err := p.core().OfRank().Ended(); err != nil {
		return fmt.Errorf("mpi: Parallel: rank %d: %w", p.core().OfRank().Rank(), err)
	}
	ctx, cancel := context.WithCancelCause(core.OrNone(ctx))
	defer cancel(nil)
	all := &parallelGroup{ctx: ctx, cancel: cancel, f: f, ended: p.core().OfRank().Ended}
	handles, short := p.Threads().GoAll(n, func(_ *fult.Thread, i int) { all.runThread(i) })
	if short != nil {
		short = fmt.Errorf("mpi: Parallel: rank %d: %w", p.core().OfRank().Rank(), short)
		cancel(short)
	}
	var errs []error
	for i, h := range handles {
		if err := all.joinThread(i, h); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, short)...)
}

// ThreadError is the error of a thread of Parallel.
type ThreadError struct {
	Thread int // its number
	Err    error
}

// Error names the thread.
func (e *ThreadError) Error() string { return fmt.Sprintf("thread %d: %v", e.Thread, e.Err) }

// Unwrap gives the error of the thread's function.
func (e *ThreadError) Unwrap() error { return e.Err }

// parallelGroup is what the threads of one Parallel share.
type parallelGroup struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	f      func(ctx context.Context, i int) error
	ended  func() error // why threads that wait have been ended, or nil

	mu     sync.Mutex           // guards failed
	failed map[int]*ThreadError // by number
}

// joinThread waits for thread i and gives its error.
func (c *parallelGroup) joinThread(i int, h fult.Handle) error {
	if err := h.Join(); err != nil {
		if why := c.ended(); why != nil && errors.Is(err, fult.ErrClosed) {
			err = why
		}
		return &ThreadError{i, err}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.failed[i]; e != nil {
		return e
	}
	return nil
}

// runThread is thread i. A panic passes through it, to Join.
func (c *parallelGroup) runThread(i int) {
	returned := false
	defer func() {
		if !returned {
			c.cancel(&ThreadError{i, errors.New("it did not return")})
		}
	}()
	err := c.f(c.ctx, i)
	returned = true
	if err == nil {
		return
	}
	e := &ThreadError{i, err}
	c.cancel(e) // only the first one counts
	if !follows(context.Cause(c.ctx), e) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.failed == nil {
			c.failed = make(map[int]*ThreadError)
		}
		c.failed[i] = e
	}
}

// follows reports whether e is only a result of cause, the error of another thread.
func follows(cause error, e *ThreadError) bool {
	var first *ThreadError
	if !errors.As(cause, &first) || first == e {
		return false
	}
	return errors.Is(e.Err, cause) || errors.Is(e.Err, context.Canceled)
}
