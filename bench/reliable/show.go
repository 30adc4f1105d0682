package reliable

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/golci/golci/bench"
)

// Show measures c for each loss and each size of messages (nil: that of c). It writes every row to w as it comes, as a
// JSON object in a line or in columns. With one sender a row is of a Loss, with more of a Share, three for each loss.
// It returns the goodput of the former as curves to draw. It ends early with ctx.
func Show(ctx context.Context, c Config, losses []float64, sizes []int, w io.Writer, asJSON bool) ([]bench.Row, error) {
	filled, _ := c.Fill() // what is wrong with it each measurement tells
	flow := bench.Columns(w, asJSON, func(lossRow) string { return filled.ofFlow() })
	share := bench.Columns(w, asJSON, func(shareRow) string { return filled.ofShares() })
	if len(sizes) == 0 {
		sizes = []int{c.Size}
	}
	var curves []bench.Row
	for _, c.Size = range sizes {
		var rows []bench.Row
		var err error
		if c.Senders > 1 {
			err = shares(ctx, c, losses, share)
		} else {
			rows, err = flows(ctx, c, losses, flow)
		}
		if curves = append(curves, rows...); err != nil {
			return curves, err
		}
	}
	return curves, nil
}

// flows measures one sender, the link without loss first, since the others are compared with it.
func flows(ctx context.Context, c Config, losses []float64, show func(lossRow) error) (curves []bench.Row, err error) {
	clean := 0.0
	if !slices.Contains(losses, 0) {
		losses = append([]float64{0}, losses...)
	}
	for _, c.Loss = range slices.Sorted(slices.Values(losses)) {
		if err := ctx.Err(); err != nil {
			return curves, err
		}
		l, err := MeasureLoss(c)
		if err != nil {
			return curves, err
		}
		if c.Loss == 0 {
			clean = l.Goodput
		}
		if err := show(l.row(clean)); err != nil {
			return curves, err
		}
		curves = append(curves, l.curve())
	}
	return curves, nil
}

func shares(ctx context.Context, c Config, losses []float64, show func(shareRow) error) error {
	for _, c.Loss = range losses {
		for _, scenario := range Scenarios() {
			if err := ctx.Err(); err != nil {
				return err
			}
			s, err := MeasureShare(c, scenario)
			if err != nil {
				return err
			}
			if err := show(s.row()); err != nil {
				return err
			}
		}
	}
	return nil
}

// curve is the goodput for package chart, whose axes are logarithmic: nothing lost is drawn as 0.01 %.
func (l *Loss) curve() bench.Row {
	return bench.Row{
		Bench: fmt.Sprintf("goodput over loss (%v, %s)", l.Config.RTT, gigabits(l.Config.Rate)), Impl: fmt.Sprintf("%d bytes", l.Config.Size),
		Size: l.Config.Size, Threads: max(1, int(math.Round(l.Config.Loss*1e4))), Axis: "loss, in 1/100 %", Value: l.Goodput / 1e6, Unit: bench.MegaPerSec, MinShare: 1,
	}
}

func gigabits(rate float64) string { return fmt.Sprintf("%g Gbit/s", rate*8/1e9) }

// ofFlow and ofShares are what stands above the columns.
func (c *Config) ofFlow() string {
	return fmt.Sprintf("one flow, %v, %s, queue of %v, packets of %d bytes, "+
		"reorder %g, dup %g, seed %d; times of messages at %g of the rate\n",
		c.RTT, gigabits(c.Rate), c.Queue, c.MTU, c.Reorder, c.Dup, c.Seed, c.Load)
}

func (c *Config) ofShares() string {
	return fmt.Sprintf("%d senders through %s, %v (unequal: to %g times that), queue of %v, "+
		"staggered by %v, seed %d; measured for %v\n",
		c.Senders, gigabits(c.Rate), c.RTT, c.Spread, c.Queue, c.Stagger, c.Seed, 3*c.Length)
}

// lossRow and shareRow are the rows. Times are in us.
type lossRow struct {
	Bench    string        `json:"bench"`
	Size     int           `json:"size" col:"size|%9d"`
	RTT      float64       `json:"rtt_us"`
	Rate     float64       `json:"rate_bit_s"`
	Loss     bench.Percent `json:"loss" col:"loss %|%7s"`
	Reorder  float64       `json:"reorder"`
	Dup      float64       `json:"dup"`
	Seed     uint64        `json:"seed"`
	Goodput  float64       `json:"goodput_mb_s" col:"MB/s|%10.1f"`
	Share    float64       `json:"of_lossless" col:"/lossless|%9.3f"`
	P50      float64       `json:"p50_us" col:"p50 us|%10.0f"`
	P99      float64       `json:"p99_us" col:"p99 us|%10.0f"`
	P999     float64       `json:"p999_us" col:"p99.9 us|%10.0f"`
	Load     float64       `json:"load"`
	Sent     uint64        `json:"sent_bytes"`
	Lost     uint64        `json:"lost_bytes"`
	Resent   uint64        `json:"resent_bytes"`
	OfLost   float64       `json:"-" col:"resent/lost|%12.3f|-"`
	Timeouts uint64        `json:"timeouts" col:"timeouts|%9d"`
	Spurious uint64        `json:"spurious" col:"spurious|%9d"`
}

type shareRow struct {
	Bench    string        `json:"bench"`
	Scenario Scenario      `json:"scenario" col:"scenario|%-10s"`
	Senders  int           `json:"senders"`
	Size     int           `json:"size" col:"size|%9d"`
	RTT      float64       `json:"rtt_us"`
	Rate     float64       `json:"rate_bit_s"`
	Queue    float64       `json:"queue_us"`
	Loss     bench.Percent `json:"loss" col:"loss %|%7s"`
	Seed     uint64        `json:"seed"`
	Use      float64       `json:"of_capacity" col:"/capacity|%9.3f"`
	Jain     float64       `json:"jain" col:"Jain|%6.3f"`
	Each     []float64     `json:"each_mb_s"`
	Least    float64       `json:"-" col:"least MB/s|%10.2f"`
	Most     float64       `json:"-" col:"most MB/s|%10.2f"`
	LostPart float64       `json:"lost_of_sent"`
	Resent   float64       `json:"resent_over_lost" col:"resent/lost|%12.3f|-"`
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// row compares with the goodput without loss.
func (l *Loss) row(clean float64) lossRow {
	c := &l.Config
	r := lossRow{
		Bench: "reliable", Size: c.Size, RTT: micros(c.RTT), Rate: c.Rate * 8, Loss: bench.Percent(c.Loss),
		Reorder: c.Reorder,
		Dup:     c.Dup, Seed: c.Seed, Goodput: l.Goodput / 1e6, P50: micros(l.P50), P99: micros(l.P99), P999: micros(l.Top),
		Load: c.Load, Sent: l.Sent, Lost: l.Lost, Resent: l.Resent, OfLost: over(l.Resent, l.Lost), Timeouts: l.Timeouts,
		Spurious: l.Spurious,
	}
	if clean > 0 {
		r.Share = l.Goodput / clean
	}
	return r
}

func (s *Share) row() shareRow {
	c := &s.Config
	r := shareRow{
		Bench: "reliable", Scenario: s.Scenario, Senders: c.Senders, Size: c.Size, RTT: micros(c.RTT), Rate: c.Rate * 8,
		Queue: micros(c.Queue), Loss: bench.Percent(c.Loss), Seed: c.Seed, Use: s.Use, Jain: s.Jain, LostPart: s.LostPart,
		Resent: s.Resent,
	}
	for _, x := range s.Each {
		r.Each = append(r.Each, x/1e6)
	}
	r.Least, r.Most = slices.Min(r.Each), slices.Max(r.Each)
	return r
}
