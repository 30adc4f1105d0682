package credits

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/internal/transport/credit"
	"github.com/golci/golci/rank"
)

const (
	samples = 20  // rows of a pattern
	stay    = 4   // samples with a partner, where partners rotate
	burst   = 32  // requests to one peer before the next
	payload = 800 // bytes: with its header, the least loan
	epoch   = 256 // requests received in a credit epoch: short, so that a run has many
	tickets = 250 // records of a rank that may be under way
)

// timed are the patterns over time, in turns.
var timed = []string{"ring", "chain", "pairs"}

// Sample is one of one pattern. Loans are those of all pairs, the bank is the mean of the ranks; what is counted is of
// this sample, over all ranks.
type Sample struct {
	Pattern    string  `json:"pattern" col:"pattern|%-7s"`
	Sample     int     `json:"sample"`
	Millis     float64 `json:"ms" col:"ms|%6.0f"`       // at the end of the sample
	Epoch      float64 `json:"epoch" col:"epoch|%7.1f"` // mean of the ranks
	LoanMin    int     `json:"loan_min" col:"loan min|%8d"`
	LoanMean   float64 `json:"loan_mean" col:"mean|%6.1f"`
	LoanMax    int     `json:"loan_max" col:"max|%5d"`
	Bank       float64 `json:"bank" col:"bank|%7.1f"`
	Stalls     uint64  `json:"stalls" col:"stalls|%7d"` // requests that waited, as far as the lenders were told
	Revokes    uint64  `json:"revokes" col:"revokes|%8d"`
	Granted    uint64  `json:"granted" col:"granted|%8d"`   // credits
	Returned   uint64  `json:"returned" col:"returned|%8d"` // credits
	Rate       float64 `json:"messages_s" col:"messages/s|%12.0f"`
	Throughput float64 `json:"throughput" col:"throughput|%10.2f"` // relative to the same pattern without flow control
}

// showTime runs every pattern without flow control, with dynamic credits, and without again.
func (c Config) showTime(ctx context.Context, w io.Writer, asJSON bool) (curves []bench.Row, err error) {
	show := bench.Columns(w, asJSON, func(s Sample) string { return "# " + s.Pattern + "\n" })
	for _, name := range timed {
		p := patternOf(name)
		before, err := c.reference(ctx, p)
		if err != nil {
			return curves, err
		}
		var rows []Sample
		if err := c.run(ctx, p, credit.Dynamic, c.Length, func(s Sample) { rows = append(rows, s) }); err != nil {
			return curves, err
		}
		after, err := c.reference(ctx, p)
		if err != nil {
			return curves, err
		}
		for _, s := range rows {
			s.Throughput = s.Rate * 2 / (before + after)
			curves = append(curves, c.curves(s)...)
			if err := show(s); err != nil {
				return curves, err
			}
		}
	}
	return curves, nil
}

// curves are a panel of credits and one of throughput for each pattern.
func (c Config) curves(s Sample) (out []bench.Row) {
	add := func(panel, impl, unit string, v float64) {
		panel = fmt.Sprintf("%s, by sample of %v (%s, %d ranks)", panel, c.Length/samples, s.Pattern, c.Ranks)
		out = append(out, point(panel, impl, unit, "sample", s.Sample, v))
	}
	add("loans and bank", "largest loan", "credits", float64(s.LoanMax))
	add("loans and bank", "mean loan", "credits", s.LoanMean)
	add("loans and bank", "least loan", "credits", float64(s.LoanMin))
	add("loans and bank", "bank", "credits", s.Bank)
	add("throughput", "dynamic credits", "of that without flow control", s.Throughput)
	return out
}

// reference is the rate without flow control, in messages a second.
func (c Config) reference(ctx context.Context, p pattern) (float64, error) {
	sum, n := 0.0, 0
	err := c.run(ctx, p, credit.NoFlow, c.Length/2, func(s Sample) { sum, n = sum+s.Rate, n+1 })
	return sum / float64(max(1, n)), err
}

// rankConfig is that of ranks over time. Without flow control a rank has space for all that its peers can have under
// way. Their tickets ensure that nothing overflows.
func (c Config) rankConfig(m credit.Mode) rank.Config {
	t := credit.Terms(c.Ranks, leastLoan*credit.Unit)
	t.Mode, t.PerPeer, t.Bank, t.Min, t.Epoch = m, c.Loan, c.Bank, leastLoan, epoch
	t.Max = max(t.Max, c.Loan)
	if m == credit.NoFlow {
		t.PerPeer, t.Bank = tickets*leastLoan, 0
	}
	cfg := RankConfig(t, leastLoan*credit.Unit-Slack)
	overDatagrams(cfg.Settings)
	cfg.Tuning.Messages = tickets
	return cfg
}

// run makes all ranks send for the given time, and hands out each sample. All that was sent has come when it returns.
func (c Config) run(ctx context.Context, p pattern, m credit.Mode, length time.Duration, out func(Sample)) (err error) {
	w, err := assemble(c.Ranks, c.rankConfig(m))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.team.Close()) }()
	start, every, buf := time.Now(), length/samples, make([]byte, payload)
	_, err = w.slice(func(i int) error {
		for _, to := range p.targets(i, c.Ranks, int(time.Since(start)/(stay*every)), 0) {
			if err := w.burst(i, to, burst, buf); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
		return nil
	}, func() {
		w.watch(ctx, every, func(i int, last, now state) {
			s := w.sample(last, now)
			s.Pattern, s.Sample, s.Millis = p.name, i, now.at.Sub(start).Seconds()*1e3
			out(s)
		})
	})
	return errors.Join(err, context.Cause(ctx))
}

// watch hands out the states around each sample. It ends early when something has failed or ctx is cancelled.
func (w *crew) watch(ctx context.Context, every time.Duration, out func(i int, last, now state)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	last := w.look()
	for i := range samples {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if w.err() != nil {
			return
		}
		now := w.look()
		out(i, last, now)
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

// sample is what happened between two states.
func (w *crew) sample(last, now state) Sample {
	ranks, sum := float64(len(w.eps)), 0
	for _, l := range now.loans {
		sum += l
	}
	return Sample{
		Epoch: float64(now.stats.Epochs) / ranks, LoanMin: slices.Min(now.loans), LoanMax: slices.Max(now.loans),
		LoanMean: float64(sum) / float64(len(now.loans)), Bank: float64(now.bank) / ranks,
		Stalls: now.stats.Needs - last.stats.Needs, Revokes: now.stats.Revokes - last.stats.Revokes,
		Granted: now.stats.Granted - last.stats.Granted, Returned: now.stats.Returned - last.stats.Returned,
		Rate: float64(now.received-last.received) / now.at.Sub(last.at).Seconds(),
	}
}
