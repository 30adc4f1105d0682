package scale

import (
	"context"
	"time"

	ledgers "github.com/golci/golci/bench/credits"
	"github.com/golci/golci/bench/scale/vtime"
	"github.com/golci/golci/internal/transport/credit"
)

// noteBytes is a record that carries credits alone: its header.
const noteBytes = 16

// creditEpochs is how many epochs are simulated. The first has the loans of the start.
const creditEpochs = 2

// credits makes all ranks send to six neighbors, as the simulation of bench/credits does. Messages are those that
// travel for credits alone.
func credits(ctx context.Context, c Config, n int) (outcome, error) {
	terms := credit.Terms(n, 1024)
	ticks := 0
	cfg := ledgers.Config{Ranks: n, Epochs: creditEpochs, Seed: c.Seed}
	res, err := ledgers.Simulate(cfg, func(r ledgers.Epoch) error {
		ticks += r.Ticks
		return ctx.Err()
	})
	if err != nil {
		return outcome{}, err
	}
	o := outcome{time: time.Duration(ticks) * time.Microsecond, ranks: make([]vtime.Traffic, n)}
	for r, told := range res.Told {
		o.ranks[r] = vtime.Traffic{Messages: int64(told), Bytes: int64(told) * noteBytes}
	}
	var broken error
	o.state = weigh(func() *credit.Ledger {
		g, err := credit.NewLedger(terms, 0, n)
		if err != nil {
			broken = err
		}
		return g
	})
	return o, broken
}
