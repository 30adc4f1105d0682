package mpi

import (
	"context"
	"errors"
	"fmt"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/mpi/core"
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
		return fmt.Errorf("mpi: Parallel: rank %d: %w: nil function", p.core().OfRank().Rank(), ErrArgument)
	case n < 0:
		return fmt.Errorf("mpi: Parallel: rank %d: %w: %d threads", p.core().OfRank().Rank(), ErrArgument, n)
	}
	if err := p.core().OfRank().Ended(); err != nil {
		return fmt.Errorf("mpi: Parallel: rank %d: %w", p.core().OfRank().Rank(), err)
	}
	ctx, cancel := context.WithCancelCause(core.OrNone(ctx))
	defer cancel(nil)
	shared := &crew{ctx, cancel, f, p.core().OfRank().Ended}
	var members []*member // no room for n before it is known that so many can run
	var short error
	for i := range n {
		m := &member{crew: shared, number: i}
		h, err := p.Threads().Go(func(*fult.Thread) { m.run() })
		if err != nil {
			short = fmt.Errorf("mpi: Parallel: rank %d: thread %d of %d: %w", p.core().OfRank().Rank(), i, n, err)
			cancel(short)
			break
		}
		m.handle = h
		members = append(members, m)
	}
	var errs []error
	for _, m := range members {
		if err := m.join(); err != nil {
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

// crew is what the threads of one Parallel share.
type crew struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	f      func(ctx context.Context, i int) error
	ended  func() error // why threads that wait have been ended, or nil
}

// member is one of these threads.
type member struct {
	*crew
	number int
	handle fult.Handle  // of the caller of Parallel
	failed *ThreadError // of the thread until it has ended
}

// join waits for the thread and gives its error.
func (m *member) join() error {
	if err := m.handle.Join(); err != nil {
		if why := m.ended(); why != nil && errors.Is(err, fult.ErrClosed) {
			err = why
		}
		return &ThreadError{m.number, err}
	}
	if m.failed != nil {
		return m.failed
	}
	return nil
}

// run is the thread. A panic passes through it, to Join.
func (m *member) run() {
	returned := false
	defer func() {
		if !returned {
			m.cancel(&ThreadError{m.number, errors.New("it did not return")})
		}
	}()
	err := m.f(m.ctx, m.number)
	returned = true
	if err == nil {
		return
	}
	e := &ThreadError{m.number, err}
	m.cancel(e) // only the first one counts
	if !follows(context.Cause(m.ctx), e) {
		m.failed = e
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
