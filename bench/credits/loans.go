package credits

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/datagram"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/transport/credit"
	"github.com/golci/golci/internal/transport/receivepool"
	"github.com/golci/golci/internal/transport/udp"
	"github.com/golci/golci/rank"
)

const (
	leastSize = 8       // bytes of payload that travel as an argument
	wideSize  = 8 << 10 // of the measure of bandwidth
)

// measure is one property of a crew.
type measure struct {
	name, unit string
	size       int
	// trips: rank 0 makes round trips with the others in turns; else each rank sends to each, in bursts.
	trips bool
	of    func(took time.Duration, c counts) float64 // from what was counted in a slice
}

var measures = []measure{
	{"loans latency", bench.Micro, leastSize, true, func(took time.Duration, c counts) float64 {
		return took.Seconds() * 1e6 / float64(max(1, c.answers))
	}},
	{"loans rate", bench.PerSecond, leastSize, false, func(took time.Duration, c counts) float64 {
		return float64(c.received) / took.Seconds()
	}},
	{"loans bandwidth", bench.MegaPerSec, wideSize, false, func(took time.Duration, c counts) float64 {
		return float64(c.received) * wideSize / 1e6 / took.Seconds()
	}},
}

// loans compares loans that follow demand with loans that stay and with none. Ranks in this process send each other
// datagrams, on default terms. All modes run in turns, in short slices, so that a change of the machine meets them all.
// out gets the rows of bench.Turns, the receive space, and what the system does by itself.
func (c Config) loans(ctx context.Context, out func(bench.Row) error) (all []bench.Row, err error) {
	row := func(r bench.Row) {
		all = append(all, r)
		err = errors.Join(err, out(r))
	}
	failed := together(c.Ranks, func(crews []*crew) error {
		for _, m := range measures {
			rows, err := m.turns(ctx, crews, c.Length, c.slices)
			if err != nil {
				return err
			}
			for _, r := range rows {
				row(r)
			}
		}
		for i, w := range crews {
			row(w.memory(Modes[i].Impl))
		}
		return nil
	})
	if failed == nil {
		failed = c.raw(ctx, row)
	}
	return all, errors.Join(failed, err)
}

// defaultTerms are those of ranks over datagrams that differ from the default in the mode only.
func defaultTerms(m credit.Mode) rank.Config {
	set := map[string]string{settings.Server.Env(): "waiter", settings.FlowControl.Env(): m.String()}
	overDatagrams(set)
	return rank.Config{Settings: set}
}

// together makes a crew of each mode for f.
func together(ranks int, f func(crews []*crew) error) (err error) {
	var crews []*crew
	defer func() {
		for _, w := range crews {
			err = errors.Join(err, w.team.Close())
		}
	}()
	for _, m := range Modes {
		w, err := assemble(ranks, defaultTerms(m.Mode))
		if err != nil {
			return err
		}
		crews = append(crews, w)
	}
	return f(crews)
}

// turns measures all crews in turns; which comes first changes. The first turn is to warm up.
func (m *measure) turns(ctx context.Context, crews []*crew, slice time.Duration, n int) ([]bench.Row, error) {
	values := make([][]float64, len(crews))
	for turn := range n + 1 {
		for k := range crews {
			i := (turn + k) % len(crews)
			v, err := m.slice(ctx, crews[i], slice)
			if err != nil {
				return nil, err
			}
			if turn > 0 {
				values[i] = append(values[i], v)
			}
		}
	}
	return bench.Turns(m.row(len(crews[0].eps)), Impls(), values), nil
}

func (m *measure) row(ranks int) bench.Row {
	return bench.Row{Bench: m.name, Size: m.size, Threads: ranks, Axis: "ranks", Unit: m.unit, MinShare: 1}
}

func (m *measure) slice(ctx context.Context, w *crew, d time.Duration) (float64, error) {
	before, buf, turn := w.count(), make([]byte, m.size), make([]int, len(w.eps))
	took, err := w.slice(func(i int) error {
		turn[i]++
		to := (i + 1 + turn[i]%(len(w.eps)-1)) % len(w.eps)
		switch {
		case !m.trips:
			return w.burst(i, to, burst, buf)
		case i == 0:
			return w.ping(i, to)
		}
		return nil
	}, func() {
		select {
		case <-ctx.Done():
		case <-time.After(d):
		}
	})
	n := w.count()
	n.received -= before.received
	n.answers -= before.answers
	return m.of(took, n), errors.Join(err, context.Cause(ctx))
}

// memory is the most receive space that a rank has used, with that of replies, and the most that credits pay for.
func (w *crew) memory(impl string) bench.Row {
	used, paid := 0, 0
	for i, x := range w.team.Ranks() {
		c := x.Endpoint().Credits()
		credits := c.Banked
		for j := range c.Peers {
			if j != i {
				credits += c.Peers[j].Lent.Loan
			}
		}
		shape := receivepool.ShapeFor(credits, x.Conduit().Caps().MaxRecord)
		used, paid = max(used, x.Conduit().(*udp.Conduit).Stats().Pool), max(paid, shape.Bytes())
	}
	return bench.Row{
		Bench: "loans memory", Impl: impl, Threads: len(w.eps), Axis: "ranks",
		Value: float64(used), Unit: "bytes", MinShare: 1, Note: fmt.Sprintf("of %d at most", paid),
	}
}

// raw is what datagrams do by themselves between two cores.
func (c *Config) raw(ctx context.Context, out func(bench.Row)) error {
	d := c.Length * time.Duration(min(c.slices, 20))
	trip, err := datagram.PingPong(ctx, leastSize, d)
	if err != nil {
		return fmt.Errorf("credits: %w", err)
	}
	bytes, shape, err := datagram.Best(ctx, d)
	if err != nil {
		return fmt.Errorf("credits: %w", err)
	}
	latency, width := measures[0].row(2), measures[2].row(2)
	latency.Impl, latency.Value = bench.Raw, 2*trip.Seconds()*1e6
	width.Impl, width.Value, width.Note = bench.Raw, bytes/1e6, shape.String()
	out(latency)
	out(width)
	return nil
}
