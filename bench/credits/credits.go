// Package credits shows the credits of active messages in three views of one ledger. Over time, ranks of this process
// send to each other over datagrams, with one receive pool a rank. Loans compares such ranks under each mode of flow
// control. The simulation drives the same ledger for up to 100,000 ranks in virtual time.
package credits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/transport/credit"
	"github.com/golci/golci/internal/transport/udp"
	"github.com/golci/golci/rank"
)

// Errors, for errors.Is.
var (
	ErrConfig    = errors.New("credits: bad configuration")
	ErrInvariant = errors.New("credits: broken invariant")
	ErrLost      = errors.New("credits: messages lost or doubled")
)

// The views of Show.
const (
	OverTime   = "time"
	Loans      = "loans"
	Simulation = "sim"
)

// Views lists them.
func Views() []string { return []string{OverTime, Loans, Simulation} }

// Config of a view. Zero values stand for defaults.
type Config struct {
	View  string // default OverTime
	Ranks int    // default 8; of Loans 2, of Simulation 64
	Loan  int    // credits lent to each peer at first, not of Loans; default 6, of Simulation the table's
	Bank  int    // credits of a rank not lent at first; default 800, of Simulation the table's; negative: none

	Length time.Duration // of each pattern, or of a slice of Loans; default 400 ms and 20 ms

	// Of Simulation.
	Pattern string // one of Patterns; default static
	Epochs  int    // rows; default 120
	Stay    int    // epochs with a partner, where partners rotate; default 4
	Seed    uint64 // of the pauses, and of random partners
	Pause   int    // a rank is away for 0 to so many ticks, evenly; default 10; negative: never

	slices int           // of each measure and mode of Loans; default 200
	terms  credit.Config // of Simulation; filled in
	cost   int           // credits of a simulated request; default 1
	period int           // a simulated rank is away once in so many ticks; default 100
}

const (
	maxRanks  = 256     // in this process
	maxNodes  = 100_000 // simulated
	maxEpochs = 100_000
	leastLoan = 4 // credits of a request over time
)

// fill puts in the defaults of the view, and refuses what cannot be run.
func (c Config) fill() (Config, error) {
	c.View = cmp.Or(c.View, OverTime)
	switch c.View {
	case OverTime:
		c.Ranks, c.Loan, c.Bank = cmp.Or(c.Ranks, 8), cmp.Or(c.Loan, 6), max(0, cmp.Or(c.Bank, 800))
		c.Length = cmp.Or(c.Length, 400*time.Millisecond)
		return c, c.check(maxRanks, c.Loan < leastLoan || c.Loan > credit.MaxLoanNarrow || c.Bank > 1<<20 ||
			c.Length < samples*time.Millisecond)
	case Loans:
		c.Ranks, c.slices = cmp.Or(c.Ranks, 2), cmp.Or(c.slices, 200)
		c.Length = cmp.Or(c.Length, 20*time.Millisecond)
		return c, c.check(maxRanks, c.Length < time.Millisecond || c.slices < 1)
	case Simulation:
		return c.simulated()
	}
	return c, fmt.Errorf("%w: view %q; there are %q", ErrConfig, c.View, Views())
}

func (c Config) check(most int, bad bool) error {
	if c.Ranks < 2 || c.Ranks > most || bad {
		return fmt.Errorf("%w: %s of 2 to %d ranks: %+v", ErrConfig, c.View, most, c)
	}
	return nil
}

// simulated fills in the defaults of a simulation.
func (c Config) simulated() (Config, error) {
	c.Ranks, c.Pattern = cmp.Or(c.Ranks, 64), cmp.Or(c.Pattern, "static")
	c.Epochs, c.Stay, c.Pause = cmp.Or(c.Epochs, 120), cmp.Or(c.Stay, 4), max(0, cmp.Or(c.Pause, 10))
	c.cost, c.period = cmp.Or(c.cost, 1), cmp.Or(c.period, 100)
	if err := c.check(maxNodes, !slices.Contains(Patterns(), c.Pattern) || c.Epochs < 1 || c.Epochs > maxEpochs ||
		c.Stay < 1 || c.period < 1 || c.Pause >= c.period); err != nil {
		return c, err
	}
	c.terms = credit.Terms(c.Ranks, 1024)
	c.terms.Narrow = true
	if c.Loan > 0 {
		c.terms.PerPeer, c.terms.Max, c.terms.Min = c.Loan, max(c.terms.Max, c.Loan), min(c.terms.Min, c.Loan)
	}
	if c.Bank != 0 {
		c.terms.Bank = max(0, c.Bank)
	}
	if err := c.terms.Check(); err != nil {
		return c, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return c, c.check(maxNodes, c.cost < 1 || c.cost > c.terms.Min)
}

// Show runs c and writes every row to w as it comes. Rows of Loans go to out instead, since they are rows of package
// bench. It returns curves to draw. It ends early with the error of ctx.
func Show(ctx context.Context, c Config, w io.Writer, asJSON bool, out func(bench.Row) error) ([]bench.Row, error) {
	if c.View == Simulation {
		return c.showSimulation(ctx, w, asJSON) // Simulate fills it in
	}
	c, err := c.fill()
	if err != nil {
		return nil, err
	}
	if c.View == Loans {
		return c.loans(ctx, out)
	}
	return c.showTime(ctx, w, asJSON)
}

// point is a place of a curve. The axis that has the number of threads elsewhere has at + 1; axes are logarithmic, so
// nothing that is 0 is drawn.
func point(panel, impl, unit, axis string, at int, v float64) bench.Row {
	return bench.Row{
		Bench: panel, Impl: impl, Threads: at + 1, Axis: axis + ", from 1", Value: v, Unit: unit, MinShare: 1,
	}
}

// Mode is a mode of flow control with the name of its rows.
type Mode struct {
	Impl string
	Mode credit.Mode
}

// Modes in the order of their rows; each is compared with those behind it.
var Modes = []Mode{{"golci-dynamic", credit.Dynamic}, {"golci-static", credit.Fixed}, {"golci-none", credit.NoFlow}}

// Impls are the names of the modes.
func Impls() (names []string) {
	for _, m := range Modes {
		names = append(names, m.Impl)
	}
	return names
}

// Slack is the room of a record beside the payload.
const Slack = 256

// RankConfig asks for those terms, and for records with room for eager bytes. Only their caller polls such ranks.
func RankConfig(t credit.Config, eager int) rank.Config {
	set := map[string]string{
		settings.Server.Env(): "waiter", settings.FlowControl.Env(): t.Mode.String(),
		settings.Loan.Env(): strconv.Itoa(t.PerPeer), settings.Eager.Env(): strconv.Itoa(eager),
	}
	bank := t.Bank
	if bank == 0 {
		bank = -1 // none
	}
	return rank.Config{Settings: set, Tuning: rank.Tuning{Bank: bank, MaxLoan: t.Max, Epoch: t.Epoch}}
}

// overDatagrams adds to the settings of ranks of one process.
func overDatagrams(set map[string]string) {
	set[settings.Conduit.Env()], set[settings.UDPSecurity.Env()] = udp.Name, "trust"
}
