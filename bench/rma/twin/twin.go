// Package twin starts two ranks on one node without package mpi, for benchmarks of the layers below it. It also
// measures the time of a cache line from one rank's core to the other's.
package twin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/golci/golci/am"
	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/crossing"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/rank"
)

// Errors, for errors.Is.
var (
	ErrRanks = errors.New("twin: needs two ranks on one node")
	ErrShare = errors.New("twin: the ranks share no memory")
)

// Start brings this process up as one of two ranks on one node, which only the benchmark polls. It blocks until both
// have come. The caller finalizes the rank: see Leave. Error: ErrRanks, and those of rank.Start.
func Start(ctx context.Context) (*rank.Rank, error) {
	r, err := rank.Start(ctx, rank.Config{Settings: Settings(), Exit: os.Exit})
	if err != nil {
		return nil, fmt.Errorf("twin: %w", err)
	}
	if r.Size() != 2 || len(r.Job().LocalRanks) != 2 {
		return nil, errors.Join(fmt.Errorf("%w, not %d", ErrRanks, r.Size()), r.Finalize(ctx))
	}
	return r, nil
}

// Local runs f as both ranks of a job in this process, joined by the conduit over, and returns the errors of both.
func Local(over string, f func(r *rank.Rank) error) []error {
	set := Settings()
	set[settings.Conduit.Env()] = over
	team, err := rank.Local(2, rank.Config{Settings: set})
	if err != nil {
		return []error{err, err}
	}
	errs := make([]error, 2)
	var wg sync.WaitGroup
	for i, r := range team.Ranks() {
		wg.Go(func() { errs[i] = f(r) })
	}
	wg.Wait()
	errs[0] = errors.Join(errs[0], team.Close())
	return errs
}

// Settings are those of a rank that only its caller polls.
func Settings() map[string]string { return map[string]string{settings.Server.Env(): "waiter"} }

// Leave finalizes a rank, and waits for the other unless err says that the benchmark has failed here. It returns err,
// or why the rank could not be finalized.
func Leave(ctx context.Context, r *rank.Rank, err error) error {
	if err == nil {
		return r.Finalize(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	cancel(err)
	_ = r.Finalize(ctx) // gives up at once
	return err
}

// Pair is the two ranks while they measure: rank 0 leads and rank 1 polls meanwhile.
type Pair struct {
	on   *rank.Rank
	line *Line
	over bool // rank 0 has ended the measurement; set by a handler
}

// hOver is the index of the handler that ends Follow.
const hOver = 64

// NewPair is called by both ranks, and blocks until both have done so. ErrShare where they share no memory.
func NewPair(ctx context.Context, r *rank.Rank) (*Pair, error) {
	p := &Pair{on: r}
	over := func(*am.Token, []uint64, []byte) { p.over = true }
	if err := r.Endpoint().Register(hOver, am.Spec{Name: "over", Run: over, MaxReply: am.NoReply}); err != nil {
		return nil, err
	}
	var err error
	p.line, err = ShareLine(ctx, r)
	return p, err
}

// Measure has rank 0 lead and rank 1 follow, between two crossings, and hands the rows of lead to out.
func (p *Pair) Measure(
	ctx context.Context, lead func() ([]bench.Row, error), follow func() error, out func(bench.Row),
) error {
	return bench.Between(func() (float64, error) { return p.line.Crossing(ctx) }, func() ([]bench.Row, error) {
		if p.on.Rank() != 0 {
			return nil, follow()
		}
		return lead()
	}, out)
}

// Over ends Follow of rank 1.
func (p *Pair) Over() error { return p.on.Endpoint().RequestShort(1, hOver) }

// Follow polls until rank 0 calls Over, or broken says why that will not be.
func (p *Pair) Follow(broken func() error) error {
	for p.over = false; !p.over; {
		p.on.Endpoint().Poll()
		if err := broken(); err != nil {
			return err
		}
	}
	return nil
}

// Line measures the crossing between the two ranks' cores.
type Line struct {
	job  *rank.Job
	ends *crossing.Ends
}

// ShareLine is called by both ranks, and blocks until both have done so. ErrShare where they share no memory.
func ShareLine(ctx context.Context, r *rank.Rank) (*Line, error) {
	if m, ok := r.Conduit().(conduit.Remote); !ok || !m.Reach(1-r.Rank()).Map {
		return nil, ErrShare
	}
	ends, err := crossing.Share(ctx, r.Job())
	return &Line{r.Job(), ends}, err
}

// Crossing is called by both ranks, which spin for a few ms; rank 0 gets ns one way, rank 1 gets 0.
func (l *Line) Crossing(ctx context.Context) (float64, error) {
	if err := l.job.Barrier(ctx); err != nil {
		return 0, fmt.Errorf("twin: %w", err)
	}
	return l.ends.Measure(), nil
}
