// Package creditsim drives the ledger of package credit, which active messages use, for 2 to 100,000 ranks in virtual
// time. No message is sent; all else is as in a job. A tick stands for a microsecond. What a rank sends to a peer in
// one tick travels together and arrives Latency ticks later. A rank goes away at times, and then neither polls nor
// sends.
//
// Loans follow patterns of communication over epochs. For each epoch a run reports the credits that moved, the
// requests that waited, the bank, and how unequal the loans are. It fails if an invariant of the ledger does.
package creditsim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/golci/golci/internal/transport/credit"
)

// Errors of Run, for errors.Is.
var (
	ErrConfig    = errors.New("creditsim: bad configuration")
	ErrInvariant = errors.New("creditsim: broken invariant")
)

// Config of a run. Zero values stand for the defaults that are given; run.Config of a Result has them filled in.
type Config struct {
	Nodes   int    // ranks, 2 to MaxNodes
	Pattern string // one of Patterns
	Epochs  int    // rows; default 120
	Stay    int    // epochs with a partner, where partners rotate; default 4
	Seed    uint64 // of who goes away when, and of random partners

	// Credits are the terms; a zero Epoch means credit.Terms for Nodes and records of up to 1 KiB.
	Credits credit.Config
	// Loan and Bank, if not zero, replace PerPeer and Bank of Credits; a negative Bank stands for none.
	Loan, Bank int

	Cost    int // credits of a request; default 1
	Rate    int // credits that a rank can send in a tick; default 8: 2 GB/s
	Latency int // ticks one way; default 5
	Service int // requests that a rank can receive in a tick; default four times what one sender can send
	Burst   int // requests to one peer before the next, where a rank has several; default 64
	Window  int // credits that a rank has out to one peer at most; default: a burst for static and tree, else no limit
	Period  int // a rank goes away once in so many ticks; default 100
	Pause   int // for 0 to so many ticks, evenly; default 10; negative: never
}

// Limits of a run.
const (
	MaxNodes  = 100_000
	MaxEpochs = 100_000
)

func (c Config) fill() (Config, error) {
	if c.Nodes < 2 || c.Nodes > MaxNodes {
		return c, fmt.Errorf("%w: %d nodes are outside 2..%d", ErrConfig, c.Nodes, MaxNodes)
	}
	if !slices.Contains(Patterns(), c.Pattern) {
		return c, fmt.Errorf("%w: pattern %q; there are %q", ErrConfig, c.Pattern, Patterns())
	}
	if c.Credits.Epoch == 0 {
		c.Credits = credit.Terms(c.Nodes, 1024)
	}
	c.Credits.Narrow = true
	if c.Loan > 0 {
		c.Credits.PerPeer = c.Loan
		c.Credits.Max = max(c.Credits.Max, c.Loan)
		c.Credits.Min = min(c.Credits.Min, c.Loan)
	}
	if c.Bank != 0 {
		c.Credits.Bank = max(0, c.Bank)
	}
	c.Epochs, c.Stay = cmp.Or(c.Epochs, 120), cmp.Or(c.Stay, 4)
	c.Cost, c.Rate, c.Latency = cmp.Or(c.Cost, 1), cmp.Or(c.Rate, 8), cmp.Or(c.Latency, 5)
	c.Burst, c.Period = cmp.Or(c.Burst, 64), cmp.Or(c.Period, 100)
	c.Pause = max(0, cmp.Or(c.Pause, 10))
	if c.Window == 0 {
		c.Window = 1 << 30
		if c.Pattern == "static" || c.Pattern == "tree" {
			c.Window = c.Burst * c.Cost
		}
	}
	c.Service = cmp.Or(c.Service, max(1, 4*c.Rate/max(1, c.Cost)))
	return c, c.check()
}

func (c Config) check() error {
	if err := c.Credits.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	switch {
	case c.Epochs < 1 || c.Epochs > MaxEpochs || c.Stay < 1:
		return fmt.Errorf("%w: %d epochs, %d with a partner", ErrConfig, c.Epochs, c.Stay)
	case c.Cost < 1 || c.Cost > c.Credits.Min:
		return fmt.Errorf("%w: requests of %d credits, the least loan is %d", ErrConfig, c.Cost, c.Credits.Min)
	case c.Rate < 1 || c.Rate > 1<<12 || c.Latency < 1 || c.Latency > 1<<12 || c.Service < 1 || c.Burst < 1 || c.Window < c.Cost:
		return fmt.Errorf("%w: rate %d, latency %d, service %d, burst %d, window %d", ErrConfig,
			c.Rate, c.Latency, c.Service, c.Burst, c.Window)
	case c.Period < 1 || c.Pause >= c.Period:
		return fmt.Errorf("%w: away for up to %d ticks in %d", ErrConfig, c.Pause, c.Period)
	}
	return nil
}
