package credits

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/rma/twin"
	"github.com/golci/golci/internal/transport/credit"
	"github.com/golci/golci/rank"
)

// FlowName is the name of the rows: ns a message, one way, in a flood of requests without replies.
const FlowName = "flow"

// Errors of Flow, for errors.Is.
var (
	ErrSize = errors.New("credits: size out of range")
	ErrLost = errors.New("credits: messages lost or doubled")
)

// FlowConfig says what to vary.
type FlowConfig struct {
	Sizes  []int         // of payload, bytes: 8 is a Short with one argument, more a Medium
	Window time.Duration // least length of all floods of one size
}

const (
	turns    = 21 // floods of each mode and size, in turns
	mostSize = 32 << 10
)

// flowRank is one end. It belongs to the goroutine that called Flow, which also polls.
type flowRank struct {
	job  *rank.Job
	line *twin.Line
	ends []*end // by mode
}

// Flow measures the cost of credits for small requests. The same flood runs in turns under each mode. The three pairs
// of ranks are of one job and have receive space of one size. Both processes call it with the same arguments; it
// blocks until all is measured. Rank 0's out gets the rows of bench.Turns.
func Flow(ctx context.Context, job *rank.Job, c FlowConfig, out func(bench.Row)) (err error) {
	if len(c.Sizes) == 0 || slices.Min(c.Sizes) < leastSize || slices.Max(c.Sizes) > mostSize {
		return fmt.Errorf("%w: %d are not in %d..%d", ErrSize, c.Sizes, leastSize, mostSize)
	}
	r := &flowRank{job: job}
	defer func() { err = r.close(ctx, err) }()
	for _, m := range modes {
		e, err := openEnd(ctx, job, m.impl, m.mode, slices.Max(c.Sizes))
		if err != nil {
			return fmt.Errorf("credits: %s: %w", m.impl, err)
		}
		r.ends = append(r.ends, e)
	}
	if r.line, err = twin.ShareLine(ctx, r.ends[0].on); err != nil {
		return fmt.Errorf("credits: %w", err)
	}
	for _, size := range c.Sizes {
		if err := r.size(ctx, size, c.Window, out); err != nil {
			return fmt.Errorf("credits: %d bytes: %w", size, err)
		}
	}
	return job.Barrier(ctx)
}

// flowConfig asks for the default table of two ranks. Only the static loan is as large as a dynamic one becomes, so
// that the modes differ in nothing else.
func flowConfig(m credit.Mode, most int) rank.Config {
	c := credit.Terms(2, most+slack)
	c.Mode = m
	if m != credit.Dynamic {
		c.PerPeer = c.Max
	}
	return creditConfig(c, most)
}

// close finalizes the ranks of all modes, together with the other process unless err tells of a failure.
func (r *flowRank) close(ctx context.Context, err error) error {
	for _, e := range r.ends {
		err = twin.Leave(ctx, e.on, err)
	}
	return err
}

func (r *flowRank) size(ctx context.Context, size int, window time.Duration, out func(bench.Row)) error {
	return bench.Between(func() (float64, error) { return r.line.Crossing(ctx) }, func() ([]bench.Row, error) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if r.job.Rank != 0 {
			return nil, r.follow()
		}
		ns := make([][]float64, len(modes))
		err := r.lead(make([]byte, size), window, ns)
		if err != nil {
			return nil, err
		}
		return bench.Turns(bench.Row{Bench: FlowName, Size: size, Threads: 1, Unit: bench.Nano}, impls(), ns), nil
	}, out)
}

// lead floods over each end in turns; which comes first changes.
func (r *flowRank) lead(payload []byte, window time.Duration, ns [][]float64) error {
	n, share := 1000, window/time.Duration(turns*len(modes))
	for n < 1<<26 { // the warm-up, in which loans grow, too
		slowest := time.Duration(0)
		for i, e := range r.ends {
			took, err := e.flood(payload, n, (i+1)%len(modes))
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
	at := 0 // where the other rank polls
	for t := range turns {
		for k := range modes {
			next := (at + 1) % len(modes)
			if k == len(modes)-1 { // the next turn begins one further
				next = (t + 1) % len(modes)
			}
			if t == turns-1 && k == len(modes)-1 {
				next = over
			}
			took, err := r.ends[at].flood(payload, n, next)
			if err != nil {
				return err
			}
			ns[at] = append(ns[at], float64(took.Nanoseconds())/float64(n))
			at = next
		}
	}
	return nil
}

// follow polls the end that is flooded, until it is told that this is over.
func (r *flowRank) follow() error {
	for at := 0; at != over; {
		e := r.ends[at]
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
