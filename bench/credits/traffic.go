package credits

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golci/golci/internal/transport/credit"
)

// showing is one pattern under way.
type showing struct {
	*crew
	pattern pattern
	sample  time.Duration
	start   time.Time
}

// run makes all ranks send for the given time, and hands out a row for each sample. All that was sent has come when
// it returns.
func (c Config) run(ctx context.Context, p pattern, m credit.Mode, length time.Duration, out func(Row)) (err error) {
	w, err := assemble(c.Ranks, c.rankConfig(m))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.team.Close()) }()
	r := &showing{crew: w, pattern: p, sample: length / samples, start: time.Now()}
	buf := make([]byte, payload)
	_, err = w.slice(func(i int) error {
		phase := int(time.Since(r.start) / (stay * r.sample))
		for _, to := range p.targets(i, c.Ranks, phase) {
			if err := w.burst(i, to, burst, buf); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
		return nil
	}, func() { r.watch(ctx, out) })
	return errors.Join(err, context.Cause(ctx))
}

// watch hands out a row for each sample. It ends early when something has failed or ctx is cancelled.
func (r *showing) watch(ctx context.Context, out func(Row)) {
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

func (w *crew) look() state {
	s := state{at: time.Now(), received: w.count().received}
	for i, e := range w.eps {
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

func (r *showing) row(i int, last, now state) Row {
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
