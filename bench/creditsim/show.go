package creditsim

import (
	"context"
	"fmt"
	"io"

	"github.com/golci/golci/bench"
)

// Show runs c and writes every row to w as it comes, as one JSON object in a line or in columns with a summary below.
// It returns the rows as curves to draw. It ends early, with the context's error, when ctx is cancelled.
func Show(ctx context.Context, c Config, w io.Writer, asJSON bool) ([]bench.Row, error) {
	print := bench.Lines(w, asJSON, text)
	res, err := Run(c, func(r Row) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return print(r)
	})
	if err == nil && !asJSON {
		err = res.summary(w)
	}
	return res.Curves(), err
}

// text is a row in columns, the first below a heading.
func text(r Row) (line string) {
	if r.Epoch == 0 {
		line = "epoch      moved    stalls     banked    gini throughput inflight  revokes    requests    ticks\n"
	}
	return line + fmt.Sprintf("%5d %10d %9d %10d %7.4f %10.3f %8d %8d %11d %8d\n",
		r.Epoch, r.Moved, r.Stalls, r.Banked, r.Gini, r.Throughput, r.InFlight, r.Revokes, r.Requests, r.Ticks)
}

func (res *Result) summary(w io.Writer) error {
	c := &res.Config.Credits
	_, err := fmt.Fprintf(w, `%s, %d ranks: %d credits a peer (%d to %d), bank %d, epochs of %d requests
no credit moved from epoch %d of %d on, no request waited from epoch %d on
throughput %.3f of what it is without flow control (%.0f requests a tick)
%d flows with loans of %d credits or more; the largest loan is %d
`, res.Config.Pattern, res.Config.Nodes, c.PerPeer, c.Min, c.Max, c.Bank, c.Epoch,
		res.Steady, res.Config.Epochs, res.Smooth, res.Throughput, res.Unlimited, res.Flows, res.Least, res.Largest)
	return err
}

// Curves are the rows for package chart: a panel for each quantity. Threads has the number of the
// epoch, from 1; the axes are logarithmic, so nothing that is 0 is drawn.
func (res *Result) Curves() []bench.Row {
	quantities := []struct {
		name, unit string
		of         func(Row) float64
	}{
		{"moved", "credits in an epoch", func(r Row) float64 { return float64(r.Moved) }},
		{"stalls", "requests in an epoch", func(r Row) float64 { return float64(r.Stalls) }},
		{"banked", "credits", func(r Row) float64 { return float64(r.Banked) }},
		{"gini of loans", "coefficient", func(r Row) float64 { return r.Gini }},
		{"throughput", "of unlimited", func(r Row) float64 { return r.Throughput }},
	}
	var rows []bench.Row
	for _, q := range quantities {
		name := fmt.Sprintf("%s, by epoch (%s, %d ranks)", q.name, res.Config.Pattern, res.Config.Nodes)
		for _, r := range res.Rows {
			rows = append(rows, bench.Row{
				Bench: name, Impl: bench.Golci, Threads: r.Epoch + 1, Axis: "epoch, from 1", Value: q.of(r), Unit: q.unit, MinShare: 1,
			})
		}
	}
	return rows
}
