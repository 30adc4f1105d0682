package rank

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/rank/internal/cores"
	"github.com/golci/golci/rank/internal/wiring"
)

// Team is the ranks of a job in one process, for tests, examples and the race detector. Nothing else is shared.
type Team struct {
	ranks []*Rank
	late  sync.WaitGroup // aborts on their way

	mu     sync.Mutex
	reason error      // the first abort
	blame  int        // its rank
	exits  *ExitError // the greatest of the ranks' calls of Exit
}

// Local brings up n ranks of a job in this process. Config.Processors and Config.Exit have no effect. The team is to be
// closed, by Run or Close. Errors: ErrArgument, and those of the conduit.
func Local(n int, cfg Config) (*Team, error) {
	o, err := cfg.readSettings()
	if err != nil {
		return nil, err
	}
	jobs, err := boot.Local(n)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArgument, err)
	}
	wires, err := wiring.JoinRanks(&o.terms, jobs)
	if err != nil {
		return nil, err
	}
	t := &Team{}
	if err := t.startRanks(jobs, wires, o); err != nil {
		err = errors.Join(err, t.Close())
		for i := len(t.ranks); i < n; i++ { // those of which no rank was made
			err = errors.Join(err, wires[i].Close(), jobs[i].Finalize(context.Background()))
		}
		return nil, err
	}
	return t, nil
}

// startRanks makes the ranks.
func (t *Team) startRanks(jobs []*boot.Job, wires []conduit.Conduit, o *options) error {
	pl := cores.PlanFor(o.terms.Values, cores.ShareInProcess(len(jobs)))
	for i := range jobs {
		r, err := newRank(jobs[i], wires[i], o, pl, t)
		if err != nil {
			return err
		}
		t.ranks = append(t.ranks, r)
		r.timeline.AlignWith(t.ranks[0].timeline)
		if err := r.serveLayers(pl); err != nil {
			return err
		}
		r.timeline.CountFrom()
	}
	return nil
}

// Ranks are the ranks of the team, by number.
func (t *Team) Ranks() []*Rank { return t.ranks }

// Run runs f for every rank, each on a goroutine, and waits for them. The ranks are finalized when f returns, and the
// team is closed. An error, panic or runtime.Goexit of one rank aborts the others: their pending and later operations
// end with ErrAborted. Run joins the errors of the ranks, naming each, without those that only follow from an abort.
// After calls of Exit it returns an *ExitError with the greatest code, nil for 0. It is called once.
func (t *Team) Run(f func(r *Rank) error) error {
	errs := make([]error, len(t.ranks))
	ended := make(chan struct{})
	var ranks sync.WaitGroup
	for i, r := range t.ranks {
		ranks.Go(func() { errs[i] = t.rank(r, f) })
	}
	go func() {
		ranks.Wait()
		close(ended)
	}()
	t.sweep(ended)
	t.late.Wait()
	errs = append(errs, t.reasonError(errs), t.Close())
	return errors.Join(errs...)
}

// rank runs one rank to its end. Only what goes wrong by its own doing is returned.
func (t *Team) rank(r *Rank, f func(r *Rank) error) error {
	err := guarded(r, f)
	if err != nil && !errors.Is(err, ErrAborted) {
		t.abortAll(r.job.Rank, err)
	}
	final := r.Finalize(context.Background())
	if err == nil && !errors.Is(final, ErrFinalized) {
		err = final
	}
	if err == nil || follows(err) && t.aborted() {
		return nil
	}
	return fmt.Errorf("rank %d: %w", r.job.Rank, err)
}

// follows reports whether err may be the result of an abort: of an operation that it has ended, or a thread.
func follows(err error) bool { return errors.Is(err, ErrAborted) || errors.Is(err, fult.ErrClosed) }

// guarded calls f and makes an error of a panic or Goexit.
func guarded(r *Rank, f func(r *Rank) error) error {
	result := make(chan error, 1)
	go func() {
		err := errors.New("the rank's function called runtime.Goexit")
		defer func() {
			if v := recover(); v != nil {
				err = &PanicError{Rank: r.job.Rank, Value: v, Stack: debug.Stack()}
			}
			result <- err
		}()
		err = f(r)
	}()
	return <-result
}

// PanicError is what became of a rank of Team.Run whose function panicked.
type PanicError struct {
	Rank  int
	Value any    // the argument of panic
	Stack []byte // of the rank's goroutine at the time
}

// Error gives the value and the stack.
func (e *PanicError) Error() string {
	return fmt.Sprintf("rank %d panicked: %v\n%s", e.Rank, e.Value, e.Stack)
}

// Unwrap gives the panic's value if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// sweep returns when all ranks have ended. Until then it ends what was being started when they were aborted.
func (t *Team) sweep(ended <-chan struct{}) {
	tick := time.NewTicker(stopAgain)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
			if t.aborted() {
				t.stopAll()
			}
		}
	}
}

func (t *Team) aborted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reason != nil
}

// abortAll ends the operations of all ranks; the first reason counts.
func (t *Team) abortAll(rank int, err error) {
	t.mu.Lock()
	first := t.reason == nil
	if first {
		t.reason, t.blame = err, rank
	}
	t.mu.Unlock()
	if !first {
		return
	}
	// Ranks that wait at the end, without making progress, are told by the job.
	_ = t.ranks[rank].job.Abort(1, err.Error()) // cannot fail within a process
	t.stopAll()
}

// exit is the abort of a rank that calls Exit; of several the greatest code counts.
func (t *Team) exit(e *ExitError) {
	t.mu.Lock()
	if t.exits == nil || e.Code > t.exits.Code {
		t.exits = e
	}
	t.mu.Unlock()
	t.abortAll(e.Rank, e)
}

func (t *Team) stopAll() {
	t.mu.Lock()
	reason := fmt.Errorf("%w by rank %d: %w", ErrAborted, t.blame, t.reason)
	t.mu.Unlock()
	for _, r := range t.ranks {
		r.stopOps(reason)
	}
}

// reasonError is the reason of an abort that is not the error of a rank's function.
func (t *Team) reasonError(errs []error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reason == nil || errors.Is(errors.Join(errs...), t.reason) {
		return nil
	}
	if _, ok := t.reason.(*ExitError); ok { //nolint:errorlint // as exit has put it there
		if t.exits.Code == 0 {
			return nil
		}
		return t.exits
	}
	return fmt.Errorf("rank %d: %w: %w", t.blame, ErrAborted, t.reason)
}

// Close lets go of the ranks, which have been finalized or were never run. Run calls it.
func (t *Team) Close() error {
	var errs []error
	for _, r := range t.ranks {
		if !r.closed.Load() {
			errs = append(errs, r.shutAll(context.Background()))
		}
		errs = append(errs, r.wire.Close(), r.job.Finalize(context.Background()))
	}
	return errors.Join(errs...)
}
