package mpi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/golci/golci/fult"
)

// Parallel runs f(0) to f(n-1) as n light-weight threads of this rank and waits until all have ended. It joins their
// errors in the order of their numbers, each as a *ThreadError. A panic of f becomes one that holds a
// *fult.PanicError, and does not end the job. See Go for what a thread may do. It blocks, and may switch threads.
// Errors besides those of f: ErrArgument for a nil f or a negative n, ErrFinalized, ErrAborted, and fult.ErrTooMany
// if more threads would be alive at once than allowed (GOLCI_THREADS). With ErrTooMany the threads that were started
// have ended, too.
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
		return fmt.Errorf("mpi: Parallel: rank %d: %w: nil function", p.rank.Rank(), ErrArgument)
	case n < 0:
		return fmt.Errorf("mpi: Parallel: rank %d: %w: %d threads", p.rank.Rank(), ErrArgument, n)
	}
	if err := p.rank.Ended(); err != nil {
		return fmt.Errorf("mpi: Parallel: rank %d: %w", p.rank.Rank(), err)
	}
	ctx, cancel := context.WithCancelCause(orNone(ctx))
	defer cancel(nil)
	x := crew{ctx: ctx, cancel: cancel, f: f}
	var handles []fult.Handle // no room for n before it is known that so many can run
	var short error
	for i := range n {
		h, err := p.sched.Go(func(*fult.Thread) { x.run(i) })
		if err != nil {
			short = fmt.Errorf("mpi: Parallel: rank %d: thread %d of %d: %w", p.rank.Rank(), i, n, err)
			cancel(short)
			break
		}
		handles = append(handles, h)
	}
	for i, h := range handles {
		if err := h.Join(); err != nil {
			x.note(&ThreadError{i, err})
		}
	}
	return errors.Join(append(x.errors(), short)...)
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

// crew is the threads of one Parallel.
type crew struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	f      func(ctx context.Context, i int) error

	mu     sync.Mutex // nothing blocks or switches threads under it
	failed []*ThreadError
}

func (x *crew) note(e *ThreadError) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.failed = append(x.failed, e)
}

// errors are those of the threads, by number. All threads have ended.
func (x *crew) errors() []error {
	slices.SortFunc(x.failed, func(a, b *ThreadError) int { return cmp.Compare(a.Thread, b.Thread) })
	out := make([]error, len(x.failed))
	for i, e := range x.failed {
		out[i] = e
	}
	return out
}

// run is thread i. A panic passes through it, to Join.
func (x *crew) run(i int) {
	returned := false
	defer func() {
		if !returned {
			x.cancel(&ThreadError{i, errors.New("it did not return")})
		}
	}()
	err := x.f(x.ctx, i)
	returned = true
	if err == nil {
		return
	}
	e := &ThreadError{i, err}
	x.cancel(e) // only the first one counts
	if !x.follows(e) {
		x.note(e)
	}
}

// follows says that e is there only because another thread has failed.
func (x *crew) follows(e *ThreadError) bool {
	var first *ThreadError
	cause := context.Cause(x.ctx)
	if !errors.As(cause, &first) || first == e {
		return false
	}
	return errors.Is(e.Err, cause) || errors.Is(e.Err, context.Canceled)
}
