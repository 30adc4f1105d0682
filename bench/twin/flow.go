package twin

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/credits"
	"github.com/golci/golci/internal/transport/credit"
	"github.com/golci/golci/rank"
)

const (
	// over in place of the next end says that there is none.
	over     = 1 << 16
	mostSize = 32 << 10
)

// flow measures the cost of credits for small requests. The same flood runs in turns under each mode. The pairs of
// ranks for the modes are of one job and have receive space of one size. Rows are those of bench.Turns. 8 bytes of
// payload are a Short with one argument, more a Medium.
func (p *pair) flow(ctx context.Context, c Config) (err error) {
	if slices.Max(c.Sizes) > mostSize {
		return fmt.Errorf("%w: up to %d bytes", ErrSize, mostSize)
	}
	var ends []*end
	for _, m := range credits.Modes {
		cfg := flowConfig(m.Mode, slices.Max(c.Sizes))
		cfg.Name = m.Impl
		on, err := rank.On(ctx, p.on.Job(), cfg)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Impl, err)
		}
		defer func() { err = Leave(ctx, on, err) }()
		e, err := newEnd(on.Endpoint(), 0, func(e *end, _ uint64, _ []byte) { e.seen++ })
		if err != nil {
			return err
		}
		ends = append(ends, e)
	}
	for _, size := range c.Sizes {
		err := p.measure(ctx, func() ([]bench.Row, error) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			payload := make([]byte, size)
			if size == leastSize {
				payload = nil
			}
			ns := make([][]float64, len(ends))
			err := floodAll(ends, payload, c.Window, ns)
			if err != nil {
				return nil, err
			}
			return bench.Turns(row(Flow, size, 0, bench.Nano), credits.Impls(), ns), nil
		}, func() error {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			return followAll(ends)
		})
		if err != nil {
			return fmt.Errorf("%d bytes: %w", size, err)
		}
	}
	return nil
}

// flowConfig asks for the default table of two ranks. Only the static loan is as large as a dynamic one becomes, so
// that the modes differ in nothing else.
func flowConfig(m credit.Mode, most int) rank.Config {
	c := credit.Terms(2, most+credits.Slack)
	c.Mode = m
	if m != credit.Dynamic {
		c.PerPeer = c.Max
	}
	return credits.RankConfig(c, most)
}

// floodAll floods over each end in turns; which comes first changes.
func floodAll(ends []*end, payload []byte, window time.Duration, ns [][]float64) error {
	n, share := 1000, window/time.Duration(turns*len(ends))
	timed := func(at, next int) (time.Duration, error) {
		start := time.Now()
		err := ends[at].flood(payload, n, next)
		return time.Since(start), err
	}
	for n < 1<<26 { // the warm-up, in which loans grow, too
		slowest := time.Duration(0)
		for i := range ends {
			took, err := timed(i, (i+1)%len(ends))
			if err != nil {
				return err
			}
			slowest = max(slowest, took)
		}
		if slowest >= share {
			break
		}
		n *= 2
	}
	for t := range turns {
		for k := range ends {
			at := (t + k) % len(ends)
			next := (at + 1) % len(ends)
			switch {
			case k < len(ends)-1:
			case t < turns-1: // the next turn begins one further
				next = (t + 1) % len(ends)
			default:
				next = over
			}
			took, err := timed(at, next)
			if err != nil {
				return err
			}
			ns[at] = append(ns[at], float64(took.Nanoseconds())/float64(n))
		}
	}
	return nil
}

// followAll polls the end that is flooded, until it is told that this is over.
func followAll(ends []*end) error {
	for at := 0; at != over; {
		e := ends[at]
		for e.told = false; !e.told; {
			e.ep.Poll()
			if err := e.broken(); err != nil {
				return err
			}
		}
		at = e.next
	}
	return nil
}
