package credits

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golci/golci/comm/am"
	"github.com/golci/golci/internal/credit"
)

// run is one pattern under way. The counters are of the whole job; they are read while it goes on.
type run struct {
	pattern  pattern
	eps      []*am.Endpoint
	sample   time.Duration
	start    time.Time
	stop     atomic.Bool  // no new requests
	sending  atomic.Int64 // ranks that may still send
	sent     atomic.Uint64
	received atomic.Uint64
	failed   atomic.Pointer[error] // the first; nobody waits for the others then
}

// traffic has all ranks send for the given time, and hands out a row for each sample. All that was sent has come when
// it returns.
func (c Config) traffic(ctx context.Context, p pattern, m credit.Mode, length time.Duration, out func(Row)) (err error) {
	team, err := c.open(m)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, team.Close()) }()
	r := &run{pattern: p, sample: length / samples}
	for _, x := range team.Ranks() {
		r.eps = append(r.eps, x.Endpoint())
	}
	r.sending.Store(int64(len(r.eps)))
	take := am.Spec{Name: "take", Run: func(*am.Token, []uint64, []byte) { r.received.Add(1) }, MaxReply: am.NoReply}
	for _, e := range r.eps {
		if err := e.Register(hTake, take); err != nil {
			return fmt.Errorf("credits: %w", err)
		}
	}
	var ranks sync.WaitGroup
	r.start = time.Now()
	for i := range r.eps {
		ranks.Go(func() { r.rank(i) })
	}
	r.watch(ctx, out)
	r.stop.Store(true)
	ranks.Wait()
	return errors.Join(r.err(), context.Cause(ctx), r.check())
}

func (r *run) fail(err error) {
	err = fmt.Errorf("credits: %s: %w", r.pattern.name, err)
	r.failed.CompareAndSwap(nil, &err)
}

func (r *run) err() error {
	if e := r.failed.Load(); e != nil {
		return *e
	}
	return nil
}

// check looks for what must hold when all is over.
func (r *run) check() error {
	if r.err() != nil {
		return nil
	}
	if s, n := r.sent.Load(), r.received.Load(); s != n {
		return fmt.Errorf("%w: %d of %d", ErrLost, n, s)
	}
	for i, e := range r.eps {
		if err := e.CheckCredits(); err != nil {
			return fmt.Errorf("credits: rank %d: %w", i, err)
		}
	}
	return nil
}

// rank sends until it is told to stop, and then polls until everything has come.
func (r *run) rank(i int) {
	e, buf := r.eps[i], make([]byte, payload)
	for !r.stop.Load() && r.err() == nil {
		phase := int(time.Since(r.start) / (stay * r.sample))
		for _, to := range r.pattern.targets(i, len(r.eps), phase) {
			if err := r.burst(e, to, buf); err != nil {
				r.fail(err)
			}
		}
		e.Poll()
	}
	r.sending.Add(-1)
	for r.err() == nil && (r.sending.Load() > 0 || r.sent.Load() != r.received.Load()) {
		if e.Poll() == 0 {
			runtime.Gosched()
		}
		if err := e.Err(); err != nil {
			r.fail(err)
		}
	}
}

func (r *run) burst(e *am.Endpoint, to int, buf []byte) error {
	for range burst {
		r.sent.Add(1) // before it can be received
		if err := e.RequestMedium(to, hTake, buf); err != nil {
			return err
		}
	}
	return nil
}

// watch hands out a row for each sample. It ends early when something has failed or ctx is cancelled.
func (r *run) watch(ctx context.Context, out func(Row)) {
	tick := time.NewTicker(r.sample)
	defer tick.Stop()
	last := r.look()
	for i := range samples {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if r.err() != nil {
			return
		}
		now := r.look()
		out(r.row(i, last, now))
		last = now
	}
}

// state of all ranks at one time, about.
type state struct {
	at       time.Time
	received uint64
	stats    credit.Stats // sums
	bank     int          // sum
	loans    []int
}

func (r *run) look() state {
	s := state{at: time.Now(), received: r.received.Load()}
	for i, e := range r.eps {
		c := e.Credits()
		s.bank += c.Banked
		s.stats.Epochs += c.Stats.Epochs
		s.stats.Needs += c.Stats.Needs
		s.stats.Revokes += c.Stats.Revokes
		s.stats.Granted += c.Stats.Granted
		s.stats.Returned += c.Stats.Returned
		for j, p := range c.Peers {
			if j != i {
				s.loans = append(s.loans, p.Lent.Loan)
			}
		}
	}
	return s
}

func (r *run) row(i int, last, now state) Row {
	ranks, sum := float64(len(r.eps)), 0
	for _, l := range now.loans {
		sum += l
	}
	return Row{
		Pattern: r.pattern.name, Sample: i, Millis: now.at.Sub(r.start).Seconds() * 1e3,
		Epoch:   float64(now.stats.Epochs) / ranks,
		LoanMin: slices.Min(now.loans), LoanMean: float64(sum) / float64(len(now.loans)), LoanMax: slices.Max(now.loans),
		Bank: float64(now.bank) / ranks, Stalls: now.stats.Needs - last.stats.Needs,
		Revokes: now.stats.Revokes - last.stats.Revokes, Granted: now.stats.Granted - last.stats.Granted,
		Returned: now.stats.Returned - last.stats.Returned,
		Rate:     float64(now.received-last.received) / now.at.Sub(last.at).Seconds(),
	}
}
