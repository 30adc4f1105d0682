package mpi

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/boot"
	"github.com/golci/golci/internal/conduit/local"
	"github.com/golci/golci/internal/conduit/portals"
	"github.com/golci/golci/internal/conduit/udp"
	"github.com/golci/golci/internal/settings"
)

// Run runs f as n ranks of one job in this process, each on a goroutine of its own with its world communicator, and waits
// for them. It is for tests, examples and the race detector; nothing is shared with other jobs in the process. The ranks
// are finalized when f returns. An error, panic or runtime.Goexit of one rank aborts the others: their pending and later
// operations end with ErrAborted. Run joins the errors of the ranks, naming each, without those that only follow from an abort. When
// ranks call Exit it returns an *ExitError with the greatest code, or nil if that is 0.
func Run(n int, f func(c *Comm) error, opts ...Option) error {
	o, err := readOptions(opts)
	if err != nil {
		return err
	}
	if f == nil {
		return fmt.Errorf("mpi: Run: %w: nil function", ErrArgument)
	}
	t, err := newTeam(n, o)
	if err != nil {
		return fmt.Errorf("mpi: Run: %w", err)
	}
	return t.run(f)
}

// team is the ranks of a Run.
type team struct {
	procs []*Proc
	late  sync.WaitGroup // aborts on their way

	mu     sync.Mutex
	reason error      // the first abort
	blame  int        // its rank
	exits  *ExitError // the greatest of the ranks' calls of Exit
}

// sweepEvery is how often an aborted job looks for operations that were started at the very moment of the abort.
const sweepEvery = 5 * time.Millisecond

func newTeam(n int, o *options) (*team, error) {
	if n > comm.MaxRanks {
		return nil, fmt.Errorf("%w: a job of %d ranks, the most is %d", ErrArgument, n, comm.MaxRanks)
	}
	jobs, err := boot.Local(n)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArgument, err)
	}
	wires, err := joinRanks(n, jobs[0].Key, o)
	if err != nil {
		return nil, err
	}
	t := &team{}
	if err := t.start(jobs, wires, o); err != nil {
		err = errors.Join(err, t.close())
		for i := len(t.procs); i < n; i++ { // those of which no rank was made
			err = errors.Join(err, wires[i].Close(), jobs[i].Finalize(context.Background()))
		}
		return nil, err
	}
	return t, nil
}

// start makes the ranks.
func (t *team) start(jobs []*boot.Job, wires []conduit.Conduit, o *options) error {
	pl := planFor(o, shareInProcess(len(jobs)))
	pl.entries = tableEntries(o, pl.workers, true)
	for i := range jobs {
		p, err := newProc(jobs[i], wires[i], o, pl, t)
		if err != nil {
			return err
		}
		t.procs = append(t.procs, p)
		if err := p.attach(o); err != nil {
			return err
		}
	}
	return nil
}

// joinRanks connects ranks that share this process: by a ring for each pair, by one pool of receive space for each rank, or
// by datagrams.
func joinRanks(n int, key []byte, o *options) ([]conduit.Conduit, error) {
	switch settings.Conduit.Get(o.values) {
	case portals.Name:
		return portals.New(n, portalsConfig(o, n))
	case udp.Name:
		return joinByDatagrams(n, key, o)
	}
	return local.New(n, conduitConfig(o, n))
}

func (t *team) run(f func(c *Comm) error) error {
	errs := make([]error, len(t.procs))
	ended := make(chan struct{})
	var ranks sync.WaitGroup
	for i, p := range t.procs {
		ranks.Go(func() { errs[i] = t.rank(p, f) })
	}
	go func() {
		ranks.Wait()
		close(ended)
	}()
	t.sweep(ended)
	t.late.Wait()
	errs = append(errs, t.reasonError(errs), t.close())
	return errors.Join(errs...)
}

// rank runs one rank to its end. Only what goes wrong by its own doing is returned.
func (t *team) rank(p *Proc, f func(c *Comm) error) error {
	err := guarded(p, f)
	if err != nil && !errors.Is(err, ErrAborted) {
		t.abort(p.job.Rank, err)
	}
	final := p.Finalize()
	if err == nil && !errors.Is(final, ErrFinalized) {
		err = final
	}
	if err == nil || errors.Is(err, ErrAborted) && t.aborted() {
		return nil
	}
	return fmt.Errorf("rank %d: %w", p.job.Rank, err)
}

// guarded calls f and makes an error of a panic or Goexit.
func guarded(p *Proc, f func(c *Comm) error) error {
	result := make(chan error, 1)
	go func() {
		err := errors.New("the rank's function called runtime.Goexit")
		defer func() {
			if v := recover(); v != nil {
				err = &PanicError{Rank: p.job.Rank, Value: v, Stack: debug.Stack()}
			}
			result <- err
		}()
		err = f(p.world)
	}()
	return <-result
}

// sweep returns when all ranks have ended.
func (t *team) sweep(ended <-chan struct{}) {
	tick := time.NewTicker(sweepEvery)
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

func (t *team) aborted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reason != nil
}

// abort has the operations of all ranks end; the first reason counts.
func (t *team) abort(rank int, err error) {
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
	_ = t.procs[rank].job.Abort(1, err.Error()) // cannot fail within a process
	t.stopAll()
}

// exit is the abort of a rank that calls Exit; of several the greatest code counts.
func (t *team) exit(e *ExitError) {
	t.mu.Lock()
	if t.exits == nil || e.Code > t.exits.Code {
		t.exits = e
	}
	t.mu.Unlock()
	t.abort(e.Rank, e)
}

// abortLater is abort for callers that may hold locks.
func (t *team) abortLater(rank int, err error) { t.late.Go(func() { t.abort(rank, err) }) }

func (t *team) stopAll() {
	t.mu.Lock()
	reason := fmt.Errorf("%w by rank %d: %w", ErrAborted, t.blame, t.reason)
	t.mu.Unlock()
	for _, p := range t.procs {
		p.stop(reason)
	}
}

// reasonError is the reason of an abort that is not the error of a rank's function.
func (t *team) reasonError(errs []error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reason == nil || errors.Is(errors.Join(errs...), t.reason) {
		return nil
	}
	if _, ok := t.reason.(*ExitError); ok { //nolint:errorlint // as exit has put it there
		return t.exits.orNil()
	}
	return fmt.Errorf("rank %d: %w: %w", t.blame, ErrAborted, t.reason)
}

// close lets go of the ranks, which have ended or were never run.
func (t *team) close() error {
	var errs []error
	for _, p := range t.procs {
		if !p.closed.Load() {
			errs = append(errs, p.shut(context.Background()))
		}
		errs = append(errs, p.wire.Close(), p.job.Finalize(context.Background()))
	}
	return errors.Join(errs...)
}
