// Package rma measures remote memory between two ranks, through the public API of comm/rma over shared memory. It
// compares puts and gets with plain accesses to the same bytes, and measures puts with notification there and back.
package rma

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/rma/twin"
	"github.com/golci/golci/comm/am"
	"github.com/golci/golci/comm/rank"
	"github.com/golci/golci/comm/rma"
)

// Names of the benchmarks.
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
	job  *rank.Job
	ep   *am.Endpoint
	mem  *rma.Memory
	line *twin.Line
	peer []byte // on rank 0: the other rank's memory, as the processor sees it
	src  []byte // of this rank, as long as the largest size
	dst  []byte
	out  func(bench.Row)
	over bool   // rank 0 has ended the measurement; set by a handler
	seq  uint64 // puts with notification that have come here, or are waited for
	seen uint64 // on rank 1: the number that the last of them but the ends carried
}

// hOver ends follow.
const hOver = 1

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
	defer r.close()
	r.out = out
	for _, size := range cfg.Sizes {
		if err := r.measure(ctx, cfg, size); err != nil {
			return fmt.Errorf("rma: %s, %d bytes: %w", cfg.Bench, size, err)
		}
	}
	return on.Job().Barrier(ctx)
}

// open makes this rank's segment, for accesses of up to most bytes.
func open(ctx context.Context, on *rank.Rank, most int) (*end, error) {
	r := &end{job: on.Job(), ep: on.Endpoint(), src: make([]byte, most), dst: make([]byte, most)}
	if err := r.share(ctx, on, most); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *end) share(ctx context.Context, on *rank.Rank, most int) (err error) {
	if r.mem, err = rma.New(r.ep, rma.Config{SegmentSize: int64(most)}); err != nil {
		return err
	}
	over := func(*am.Token, []uint64, []byte) { r.over = true }
	if err := r.ep.Register(hOver, am.Spec{Name: "over", Run: over, MaxReply: am.NoReply}); err != nil {
		return err
	}
	r.line, err = twin.ShareLine(ctx, on)
	return err
}

func (r *end) close() {
	if r.mem != nil {
		r.mem.Close()
	}
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
	return bench.Between(func() (float64, error) { return r.line.Crossing(ctx) }, func() ([]bench.Row, error) {
		switch {
		case r.job.Rank == 1 && c.Bench == Notify:
			return nil, r.echo(size)
		case r.job.Rank == 1:
			return nil, r.follow()
		case c.Bench == Notify:
			return r.notify(size, c.Window)
		}
		return r.versus(c.Bench, size, c.Window)
	}, func(row bench.Row) {
		row.Size, row.Threads, row.MinShare = size, 1, 1
		r.out(row)
	})
}

// follow polls, so that rank 0 gets answers, until it is told that this is over.
func (r *end) follow() error {
	for r.over = false; !r.over; {
		r.ep.Poll()
		if err := r.ep.Err(); err != nil {
			return err
		}
	}
	return nil
}
