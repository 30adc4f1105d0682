// Package credits shows the credits of active messages at work. Show has ranks in this process send to each other over
// datagrams, with one receive pool a rank, and reports loans and bank over time. Loans compares such ranks under each
// mode of flow control. Flow measures what credits cost a message over shared memory.
package credits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/golci/golci/bench/rma/twin"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/transport/credit"
	"github.com/golci/golci/internal/transport/udp"
	"github.com/golci/golci/rank"
)

// ErrConfig is an error of Run and Show, for errors.Is.
var ErrConfig = errors.New("credits: bad configuration")

// Config of a run. Zero values stand for the defaults that are given.
type Config struct {
	Ranks  int           // 2 to 256; default 8
	Loan   int           // credits lent to each peer at first, at least 4; default 6
	Bank   int           // credits of a rank not lent at first; default 800, negative: none
	Length time.Duration // of each pattern; default 400 ms, at least 20 ms
}

const (
	samples   = 20  // rows of a pattern
	stay      = 4   // samples with a partner, where partners rotate
	burst     = 32  // requests to one peer before the next
	payload   = 800 // bytes: with its header, the least loan
	leastLoan = 4   // credits of a request
	epoch     = 256 // requests received in a credit epoch: short, so that a run has many
	maxRanks  = 256
	slack     = 256 // of a record, beside the payload
	tickets   = 250 // records of a rank that may be under way
)

func (c Config) fill() (Config, error) {
	c.Ranks, c.Loan, c.Bank = cmp.Or(c.Ranks, 8), cmp.Or(c.Loan, 6), max(0, cmp.Or(c.Bank, 800))
	c.Length = cmp.Or(c.Length, 400*time.Millisecond)
	switch {
	case c.Ranks < 2 || c.Ranks > maxRanks:
		return c, fmt.Errorf("%w: %d ranks are outside 2..%d", ErrConfig, c.Ranks, maxRanks)
	case c.Loan < leastLoan || c.Loan > credit.MaxLoanNarrow:
		return c, fmt.Errorf("%w: a loan of %d credits is outside %d..%d", ErrConfig, c.Loan, leastLoan, credit.MaxLoanNarrow)
	case c.Bank > 1<<20:
		return c, fmt.Errorf("%w: a bank of %d credits", ErrConfig, c.Bank)
	case c.Length < samples*time.Millisecond:
		return c, fmt.Errorf("%w: %v for a pattern, want %d ms", ErrConfig, c.Length, samples)
	}
	return c, nil
}

// terms of a run. Without flow control a rank has space for all that its peers can have under way. Their tickets
// ensure that nothing overflows.
func (c Config) terms(m credit.Mode) credit.Config {
	t := credit.Terms(c.Ranks, leastLoan*credit.Unit)
	t.Mode, t.PerPeer, t.Bank, t.Min, t.Epoch = m, c.Loan, c.Bank, leastLoan, epoch
	t.Max = max(t.Max, c.Loan)
	if m == credit.NoFlow {
		t.PerPeer, t.Bank = tickets*leastLoan, 0
	}
	return t
}

// rankConfig is that of the ranks of a run.
func (c Config) rankConfig(m credit.Mode) rank.Config {
	cfg := creditConfig(c.terms(m), leastLoan*credit.Unit-slack)
	overDatagrams(cfg.Settings)
	cfg.Tuning.Messages = tickets
	return cfg
}

// overDatagrams adds to the settings of ranks of one process.
func overDatagrams(set map[string]string) {
	set[settings.Conduit.Env()], set[settings.UDPSecurity.Env()] = udp.Name, "trust"
}

// creditConfig asks for those terms, and for records with room for eager bytes. Only their caller polls such ranks.
func creditConfig(t credit.Config, eager int) rank.Config {
	set := twin.Settings()
	set[settings.FlowControl.Env()] = t.Mode.String()
	set[settings.Loan.Env()] = strconv.Itoa(t.PerPeer)
	set[settings.Eager.Env()] = strconv.Itoa(eager)
	bank := t.Bank
	if bank == 0 {
		bank = -1 // none
	}
	return rank.Config{Settings: set, Tuning: rank.Tuning{Bank: bank, MaxLoan: t.Max, Epoch: t.Epoch}}
}

// pattern says who sends to whom.
type pattern struct {
	name    string
	targets func(i, n, phase int) []int // in turns
}

// Partners of chain and pairs rotate.
var patterns = []pattern{
	{"static", func(i, n, _ int) []int {
		if n == 2 {
			return []int{1 - i}
		}
		return []int{(i + 1) % n, (i + n - 1) % n}
	}},
	{"chain", func(i, n, phase int) []int { return []int{(i + 1 + phase%(n-1)) % n} }},
	{"pairs", func(i, n, phase int) []int { // both ways; with an even number nobody is left alone
		if j := ((2*phase+1-i)%n + n) % n; j != i {
			return []int{j}
		}
		return nil
	}},
}

// Row is one sample of one pattern. Loans are those of all pairs, the bank is the mean of the ranks; what is counted
// is of this sample, over all ranks.
type Row struct {
	Pattern    string  `json:"pattern"`
	Sample     int     `json:"sample"`
	Millis     float64 `json:"ms"`    // at the end of the sample
	Epoch      float64 `json:"epoch"` // mean of the ranks
	LoanMin    int     `json:"loan_min"`
	LoanMean   float64 `json:"loan_mean"`
	LoanMax    int     `json:"loan_max"`
	Bank       float64 `json:"bank"`
	Stalls     uint64  `json:"stalls"` // requests that waited for credits, as far as the lenders were told
	Revokes    uint64  `json:"revokes"`
	Granted    uint64  `json:"granted"`  // credits
	Returned   uint64  `json:"returned"` // credits
	Rate       float64 `json:"messages_s"`
	Throughput float64 `json:"throughput"` // relative to the same pattern without flow control
}

// Run runs every pattern without flow control, with dynamic credits, and without again, and calls f with each row as
// it is measured. It blocks until all ranks have ended. It ends early with the error of f or of ctx.
func Run(ctx context.Context, c Config, f func(Row) error) error {
	c, err := c.fill()
	if err != nil {
		return err
	}
	for _, p := range patterns {
		before, err := c.reference(ctx, p)
		if err != nil {
			return err
		}
		var rows []Row
		if err := c.run(ctx, p, credit.Dynamic, c.Length, func(r Row) { rows = append(rows, r) }); err != nil {
			return err
		}
		after, err := c.reference(ctx, p)
		if err != nil {
			return err
		}
		for _, r := range rows {
			r.Throughput = r.Rate * 2 / (before + after)
			if err := f(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// reference is the rate without flow control, in messages a second.
func (c Config) reference(ctx context.Context, p pattern) (float64, error) {
	sum, n := 0.0, 0
	err := c.run(ctx, p, credit.NoFlow, c.Length/2, func(r Row) { sum, n = sum+r.Rate, n+1 })
	return sum / float64(max(1, n)), err
}
