package suite

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/job"
	"github.com/golci/golci/bench/ranks"
	"github.com/golci/golci/bench/reliable"
	"github.com/golci/golci/internal/observe/settings"
)

// losses are those of reliable, if nobody asks for others.
var losses = []float64{0, 0.001, 0.01, 0.02, 0.05, 0.1}

func (c *Config) losses() []float64 {
	switch {
	case len(c.Losses) > 0:
		return slices.Clone(c.Losses)
	case c.Link.Senders > 1 && !c.Real:
		return losses[:1]
	}
	return slices.Clone(losses)
}

func (r *runner) simulate(ctx context.Context, s spec) ([]bench.Row, error) {
	c := r.Link
	if s.chosen {
		c.Length = s.window
	}
	return reliable.Show(ctx, c, r.losses(), s.sizes, r.Out, r.JSON)
}

// realRow is what two ranks do over the UDP conduit while packets get lost.
type realRow struct {
	Bench   string        `json:"bench"`
	Impl    string        `json:"impl" col:"impl|%-22s"`
	Size    int           `json:"size" col:"size|%9d"`
	Loss    bench.Percent `json:"loss" col:"loss %|%7s"`
	Reorder float64       `json:"reorder"`
	Dup     float64       `json:"dup"`
	Seed    uint64        `json:"seed"`
	Goodput float64       `json:"goodput_mb_s" col:"MB/s|%10.1f"`
	// Share is of the first row with this Impl and Size, if that is without loss.
	Share float64 `json:"of_lossless" col:"/lossless|%9.3f"`
	P50   float64 `json:"p50_us" col:"p50 us|%10.1f"` // of half a round trip
	P99   float64 `json:"p99_us" col:"p99 us|%10.1f"`
	P999  float64 `json:"p999_us" col:"p99.9 us|%10.1f"`
}

// real measures each loss, size and mode of security by jobs of their own: the loop of bandwidth, and Tail.
func (r *runner) real(ctx context.Context, s spec) error {
	rates, show := r.losses(), bench.Columns[realRow](r.Out, r.JSON, nil)
	slices.Sort(rates)
	for _, v := range r.variants() {
		for _, size := range s.sizes {
			clean := 0.0
			for _, loss := range rates {
				row, err := r.lossy(ctx, s, v, size, loss)
				if err != nil {
					return err
				}
				if loss == 0 {
					clean = row.Goodput
				}
				if clean > 0 {
					row.Share = row.Goodput / clean
				}
				if err := show(row); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// faults is the setting of a loss, and of what else was asked for; nothing where nothing is to be harmed.
func (c *Config) faults(loss float64) variant {
	text := []string{"seed=" + strconv.FormatUint(c.Link.Seed, 10)}
	for _, f := range []struct {
		name  string
		value float64
	}{{"loss", loss}, {"reorder", c.Link.Reorder}, {"dup", c.Link.Dup}} {
		if f.value > 0 {
			text = append(text, f.name+"="+strconv.FormatFloat(f.value, 'g', -1, 64))
		}
	}
	if len(text) == 1 {
		return nil
	}
	return variant{settings.UDPFaults.Env() + "=" + strings.Join(text, ",")}
}

// patience is by how much a job may take longer than without loss.
const patience = 4

func (r *runner) lossy(ctx context.Context, s spec, v variant, size int, loss float64) (realRow, error) {
	out := realRow{Bench: s.name, Size: size, Loss: bench.Percent(loss)}
	out.Reorder, out.Dup, out.Seed = r.Link.Reorder, r.Link.Dup, r.Link.Seed
	v = slices.Concat(v, r.faults(loss))
	c := Config{N: r.N, Sizes: []int{size}, Names: []string{"bandwidth", ranks.Tail}}
	if s.chosen {
		c.Duration = s.window
	}
	both, err := choose(c)
	if err != nil {
		return out, err
	}
	for _, b := range both {
		limit := patience * b.limit(b.threads)
		err := job.Run(ctx, job.Job{Argv: r.ranks(b, v, b.threads), Limit: limit, Row: out.take})
		if err != nil {
			return out, fmt.Errorf("bench: %s: loss %g: %w", s.name, loss, err)
		}
	}
	return out, nil
}

func (o *realRow) take(r bench.Row) {
	o.Impl = r.Impl
	places := []*float64{&o.P50, &o.P99, &o.P999}
	for i, q := range ranks.Quantiles {
		if r.Bench == ranks.TailOf(q) {
			*places[i] = r.Value
			return
		}
	}
	o.Goodput = r.Value
}

// ParseChances reads a list of numbers from 0 up to but not 1, with commas; 1% is 0.01.
func ParseChances(list string) ([]float64, error) {
	return parseList(list, func(item string) (float64, error) {
		number, percent := strings.CutSuffix(item, "%")
		x, err := strconv.ParseFloat(number, 64)
		if percent {
			x /= 100
		}
		if err != nil || !(x >= 0 && x < 1) {
			return 0, fmt.Errorf("%w: %q is not a chance from 0 to less than 1, such as 0.01 or 1%%", ErrUsage, item)
		}
		return x, nil
	})
}

// ParseRate reads bits per second, with k, M, G for powers of 1000, and returns bytes per second; "" is 0.
func ParseRate(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	unit, number := 1.0, strings.ToLower(strings.TrimSpace(text))
	for suffix, u := range map[string]float64{"k": 1e3, "m": 1e6, "g": 1e9} {
		if n, ok := strings.CutSuffix(number, suffix); ok {
			unit, number = u, n
			break
		}
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || !(x > 0) {
		return 0, fmt.Errorf("%w: %q is not a rate in bits per second, such as 1G", ErrUsage, text)
	}
	return x * unit / 8, nil
}
