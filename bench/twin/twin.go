// Package twin has the benchmarks of two ranks on one node below package mpi, through the public API over shared
// memory: active messages, what their credits cost, and remote memory. Puts and gets are compared with plain accesses
// to the same bytes.
package twin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

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
	ErrName  = errors.New("twin: no such benchmark")
	ErrSize  = errors.New("twin: size out of range")
	ErrData  = errors.New("twin: wrong arguments or bytes")
)

// Names of the benchmarks, and of their rows.
const (
	Active = "am"       // us, request and reply; and Flood
	Flood  = "am-flood" // ns a message, one way
	Flow   = "flow"     // the same under each mode of flow control
	Put    = "put"      // ns, done when the call returns
	Get    = "get"      // ns
	Notify = "notify"   // us, half a round trip of puts with notification
)

// leastSize is what an argument or a sequence number takes.
const leastSize = 8

// Config names a benchmark and what to vary.
type Config struct {
	Bench  string
	Sizes  []int         // bytes; from leastSize but for Active
	Window time.Duration // least length of the timed loops of one row
	least  int           // iterations of Active; 0 means leastTrips
}

func (c Config) check() error {
	if !slices.Contains([]string{Active, Flow, Put, Get, Notify}, c.Bench) {
		return fmt.Errorf("%w: %q", ErrName, c.Bench)
	}
	if len(c.Sizes) == 0 || c.Bench != Active && slices.Min(c.Sizes) < leastSize {
		return fmt.Errorf("%w: %d, they are from %d bytes", ErrSize, c.Sizes, leastSize)
	}
	return nil
}

// Run is called by both ranks with the same arguments and blocks until all is measured. Rank 0's out gets the rows,
// each with the crossing before and after. Nobody else polls the rank.
func Run(ctx context.Context, on *rank.Rank, c Config, out func(bench.Row)) error {
	if err := c.check(); err != nil {
		return err
	}
	c.least = cmp.Or(c.least, leastTrips)
	p, err := newPair(ctx, on, out)
	if err != nil {
		return fmt.Errorf("twin: %w", err)
	}
	f := p.memory
	switch c.Bench {
	case Active:
		f = p.active
	case Flow:
		f = p.flow
	}
	if err := f(ctx, c); err != nil {
		return fmt.Errorf("twin: %s: %w", c.Bench, err)
	}
	return on.Job().Barrier(ctx)
}

func row(name string, size int, value float64, unit string) bench.Row {
	return bench.Row{
		Bench: name, Impl: bench.Golci, Size: size, Threads: 1, Value: value, Unit: unit, MinShare: 1,
	}
}

// Start brings this process up as one of two ranks on one node, which only the benchmark polls. It blocks until both
// have come. The caller finalizes the rank: see Leave. Error: ErrRanks, and those of rank.Start.
func Start(ctx context.Context) (*rank.Rank, error) {
	r, err := rank.Start(ctx, rank.Config{Settings: waiter(), Exit: os.Exit})
	if err != nil {
		return nil, fmt.Errorf("twin: %w", err)
	}
	if r.Size() != 2 || len(r.Job().LocalRanks) != 2 {
		return nil, errors.Join(fmt.Errorf("%w, not %d", ErrRanks, r.Size()), r.Finalize(ctx))
	}
	return r, nil
}

// local runs f as both ranks of a job in this process, joined by the conduit over, and returns the errors of both.
func local(over string, f func(r *rank.Rank) error) []error {
	set := waiter()
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

// waiter are the settings of a rank that only its caller polls.
func waiter() map[string]string { return map[string]string{settings.Server.Env(): "waiter"} }

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

// pair is the two ranks while they measure: rank 0 leads and rank 1 polls meanwhile.
type pair struct {
	on   *rank.Rank
	out  func(bench.Row)
	ends *crossing.Ends
	over bool // rank 0 has ended the measurement; set by a handler
}

// hOver is the index of the handler that ends follow.
const hOver = 64

// newPair is called by both ranks, and blocks until both have done so. ErrShare where they share no memory.
func newPair(ctx context.Context, r *rank.Rank, out func(bench.Row)) (*pair, error) {
	if m, ok := r.Conduit().(conduit.Remote); !ok || !m.Reach(1-r.Rank()).Map {
		return nil, ErrShare
	}
	p := &pair{on: r, out: out}
	over := func(*am.Token, []uint64, []byte) { p.over = true }
	if err := r.Endpoint().Register(hOver, am.Spec{Name: "over", Run: over, MaxReply: am.NoReply}); err != nil {
		return nil, err
	}
	var err error
	p.ends, err = crossing.Share(ctx, r.Job())
	return p, err
}

// measure makes rank 0 lead and rank 1 follow, between two crossings, and hands out the rows of lead.
func (p *pair) measure(ctx context.Context, lead func() ([]bench.Row, error), follow func() error) error {
	return bench.Between(func() (float64, error) { return p.crossing(ctx) }, func() ([]bench.Row, error) {
		if p.on.Rank() != 0 {
			return nil, follow()
		}
		return lead()
	}, p.out)
}

// crossing is called by both ranks, which spin for a few ms; rank 0 gets ns one way, rank 1 gets 0.
func (p *pair) crossing(ctx context.Context) (float64, error) {
	if err := p.on.Job().Barrier(ctx); err != nil {
		return 0, err
	}
	return p.ends.Measure(), nil
}

// end ends follow of rank 1.
func (p *pair) end() error { return p.on.Endpoint().RequestShort(1, hOver) }

// follow polls until rank 0 calls end, or broken says why that will not be.
func (p *pair) follow(broken func() error) error {
	for p.over = false; !p.over; {
		p.on.Endpoint().Poll()
		if err := broken(); err != nil {
			return err
		}
	}
	return nil
}
