package reliable

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/golci/golci/bench"
)

// Show measures c for each loss and each size of messages (nil: that of c). It writes every row to w as it comes, as a
// JSON object in a line or in columns. With one sender a row is a Loss, with more a Share, three for each loss. It
// returns the goodput of the former as curves to draw. It ends early with ctx.
func Show(ctx context.Context, c Config, losses []float64, sizes []int, w io.Writer, asJSON bool) ([]bench.Row, error) {
	p := &printer{w: w, json: asJSON}
	if len(sizes) == 0 {
		sizes = []int{c.Size}
	}
	var curves []bench.Row
	for _, size := range sizes {
		c.Size = size
		var rows []bench.Row
		var err error
		if c.Senders > 1 {
			err = shares(ctx, c, losses, p)
		} else {
			rows, err = flows(ctx, c, losses, p)
		}
		if curves = append(curves, rows...); err != nil {
			return curves, err
		}
	}
	return curves, nil
}

// flows measures one sender, the link without loss first, since the others are compared with it.
func flows(ctx context.Context, c Config, losses []float64, p *printer) (curves []bench.Row, err error) {
	clean := 0.0
	if !slices.Contains(losses, 0) {
		losses = append([]float64{0}, losses...)
	}
	losses = slices.Sorted(slices.Values(losses))
	for _, c.Loss = range losses {
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
		if err := p.loss(l, clean); err != nil {
			return curves, err
		}
		curves = append(curves, l.curve())
	}
	return curves, nil
}

func shares(ctx context.Context, c Config, losses []float64, p *printer) error {
	for _, c.Loss = range losses {
		for _, scenario := range Scenarios() {
			if err := ctx.Err(); err != nil {
				return err
			}
			s, err := MeasureShare(c, scenario)
			if err != nil {
				return err
			}
			if err := p.share(s); err != nil {
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

type printer struct {
	w      io.Writer
	json   bool
	headed bool
}

// lossRow and shareRow are the rows as JSON. Times are in us.
type lossRow struct {
	Bench    string  `json:"bench"`
	Size     int     `json:"size"`
	RTT      float64 `json:"rtt_us"`
	Rate     float64 `json:"rate_bit_s"`
	Loss     float64 `json:"loss"`
	Reorder  float64 `json:"reorder"`
	Dup      float64 `json:"dup"`
	Seed     uint64  `json:"seed"`
	Goodput  float64 `json:"goodput_mb_s"`
	Share    float64 `json:"of_lossless"`
	P50      float64 `json:"p50_us"`
	P99      float64 `json:"p99_us"`
	P999     float64 `json:"p999_us"`
	Load     float64 `json:"load"`
	Sent     uint64  `json:"sent_bytes"`
	Lost     uint64  `json:"lost_bytes"`
	Resent   uint64  `json:"resent_bytes"`
	Timeouts uint64  `json:"timeouts"`
	Spurious uint64  `json:"spurious"`
}

type shareRow struct {
	Bench    string    `json:"bench"`
	Scenario Scenario  `json:"scenario"`
	Senders  int       `json:"senders"`
	Size     int       `json:"size"`
	RTT      float64   `json:"rtt_us"`
	Rate     float64   `json:"rate_bit_s"`
	Queue    float64   `json:"queue_us"`
	Loss     float64   `json:"loss"`
	Seed     uint64    `json:"seed"`
	Use      float64   `json:"of_capacity"`
	Jain     float64   `json:"jain"`
	Each     []float64 `json:"each_mb_s"`
	LostPart float64   `json:"lost_of_sent"`
	Resent   float64   `json:"resent_over_lost"`
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

func (p *printer) loss(l *Loss, clean float64) error {
	share := 0.0
	if clean > 0 {
		share = l.Goodput / clean
	}
	c := &l.Config
	if p.json {
		return json.NewEncoder(p.w).Encode(lossRow{
			Bench: "reliable", Size: c.Size, RTT: micros(c.RTT), Rate: c.Rate * 8, Loss: c.Loss, Reorder: c.Reorder, Dup: c.Dup, Seed: c.Seed,
			Goodput: l.Goodput / 1e6, Share: share, P50: micros(l.P50), P99: micros(l.P99), P999: micros(l.Top), Load: c.Load,
			Sent: l.Sent, Lost: l.Lost, Resent: l.Resent, Timeouts: l.Timeouts, Spurious: l.Spurious,
		})
	}
	err := p.head(
		"one flow, %v, %s, queue of %v, packets of %d bytes, reorder %g, dup %g, seed %d; times of messages at %g of the rate\n"+
			"%9s %7s %10s %9s %10s %10s %10s %12s %9s %9s\n",
		c.RTT, gigabits(c.Rate), c.Queue, c.MTU, c.Reorder, c.Dup, c.Seed, c.Load,
		"size", "loss %", "MB/s", "/lossless", "p50 us", "p99 us", "p99.9 us", "resent/lost", "timeouts", "spurious",
	)
	if err == nil {
		_, err = fmt.Fprintf(p.w, "%9d %7.2f %10.1f %9.3f %10.0f %10.0f %10.0f %12s %9d %9d\n", c.Size, c.Loss*100, l.Goodput/1e6, share,
			micros(l.P50), micros(l.P99), micros(l.Top), ratio(over(l.Resent, l.Lost)), l.Timeouts, l.Spurious)
	}
	return err
}

func (p *printer) share(s *Share) error {
	c := &s.Config
	each := make([]float64, len(s.Each))
	for i, x := range s.Each {
		each[i] = x / 1e6
	}
	if p.json {
		return json.NewEncoder(p.w).Encode(shareRow{
			Bench: "reliable", Scenario: s.Scenario, Senders: c.Senders, Size: c.Size, RTT: micros(c.RTT), Rate: c.Rate * 8, Queue: micros(c.Queue),
			Loss: c.Loss, Seed: c.Seed, Use: s.Use, Jain: s.Jain, Each: each, LostPart: s.LostPart, Resent: s.Resent,
		})
	}
	err := p.head(
		"%d senders through %s, %v (unequal: to %g times that), queue of %v, staggered by %v, seed %d; measured for %v\n"+
			"%-10s %9s %7s %9s %6s %10s %10s %12s\n",
		c.Senders, gigabits(c.Rate), c.RTT, c.Spread, c.Queue, c.Stagger, c.Seed, 3*c.Length,
		"scenario", "size", "loss %", "/capacity", "Jain", "least MB/s", "most MB/s", "resent/lost",
	)
	if err == nil {
		_, err = fmt.Fprintf(p.w, "%-10s %9d %7.2f %9.3f %6.3f %10.2f %10.2f %12s\n", s.Scenario, c.Size, c.Loss*100, s.Use, s.Jain,
			slices.Min(each), slices.Max(each), ratio(s.Resent))
	}
	return err
}

func (p *printer) head(format string, a ...any) error {
	if p.headed {
		return nil
	}
	p.headed = true
	_, err := fmt.Fprintf(p.w, format, a...)
	return err
}

// ratio writes one that may have no meaning.
func ratio(x float64) string {
	if x == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", x)
}
