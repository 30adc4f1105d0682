// Package rma measures remote memory between two ranks, through the public API of am/rma over shared memory. It
// compares puts and gets with plain accesses to the same bytes, and measures puts with notification there and back.
package rma

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/am/rma"
	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/rma/twin"
	"github.com/golci/golci/rank"
)

const (
	Put    = "put"    // ns, done when the call returns
	Get    = "get"    // ns
	Notify = "notify" // us, half a round trip of puts with notification
)

// Errors of Run, for errors.Is.
var (
	ErrName = errors.New("rma: no such benchmark")
	ErrSize = errors.New("rma: sizes are from 8 bytes")
	ErrData = errors.New("rma: wrong bytes")
)

// leastSize is what a sequence number takes.
const leastSize = 8

// Config names a benchmark and what to vary.
type Config struct {
	Bench  string
	Sizes  []int         // bytes, from 8
	Window time.Duration // least length of the timed loops of one row
}

// end is one of the two. It belongs to the goroutine that called Run, which also polls.
type end struct {
	ep   *am.Endpoint
	mem  *rma.Memory
	pair *twin.Pair
	peer []byte // on rank 0: the other rank's memory, as the processor sees it
	src  []byte // of this rank, as long as the largest size
	dst  []byte
	out  func(bench.Row)
	seq  uint64 // puts with notification that have come here, or are waited for
	seen uint64 // on rank 1: the number that the last of them but the ends carried
}

// Run is called by both ranks with the same arguments and blocks until all is measured. Rank 0's out gets the rows. The
// ranks can map each other's memory (conduit.Remote), and nobody else polls the rank.
func Run(ctx context.Context, on *rank.Rank, cfg Config, out func(bench.Row)) error {
	if err := cfg.check(); err != nil {
		return err
	}
	r, err := open(ctx, on, slices.Max(cfg.Sizes))
	if err != nil {
		return fmt.Errorf("rma: %w", err)
	}
	defer r.mem.Close()
	r.out = out
	for _, size := range cfg.Sizes {
		if err := r.measure(ctx, cfg, size); err != nil {
			return fmt.Errorf("rma: %s, %d bytes: %w", cfg.Bench, size, err)
		}
	}
	return on.Job().Barrier(ctx)
}

func open(ctx context.Context, on *rank.Rank, most int) (r *end, err error) {
	r = &end{ep: on.Endpoint(), src: make([]byte, most), dst: make([]byte, most)}
	if r.mem, err = rma.New(r.ep, rma.Config{SegmentSize: int64(most)}); err != nil {
		return nil, err
	}
	if r.pair, err = twin.NewPair(ctx, on); err != nil {
		r.mem.Close()
		return nil, err
	}
	return r, nil
}

func (c Config) check() error {
	if c.Bench != Put && c.Bench != Get && c.Bench != Notify {
		return fmt.Errorf("%w: %q", ErrName, c.Bench)
	}
	if len(c.Sizes) == 0 || slices.Min(c.Sizes) < leastSize {
		return fmt.Errorf("%w: %d", ErrSize, c.Sizes)
	}
	return nil
}

// measure gives one row for each side that is compared, all with the crossing before and after.
func (r *end) measure(ctx context.Context, c Config, size int) error {
	lead := func() ([]bench.Row, error) { return r.versus(c.Bench, size, c.Window) }
	follow := func() error { return r.pair.Follow(r.ep.Err) }
	if c.Bench == Notify {
		lead = func() ([]bench.Row, error) { return r.notify(size, c.Window) }
		follow = func() error { return r.echo(size) }
	}
	return r.pair.Measure(ctx, lead, follow, func(row bench.Row) {
		row.Size, row.Threads, row.MinShare = size, 1, 1
		r.out(row)
	})
}
