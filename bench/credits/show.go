package credits

import (
	"context"
	"fmt"
	"io"

	"github.com/golci/golci/bench"
)

// Show runs c and writes every row to w, as one JSON object in a line or in columns. It returns the rows as curves to
// draw.
func Show(ctx context.Context, c Config, w io.Writer, asJSON bool) ([]bench.Row, error) {
	c, err := c.fill()
	if err != nil {
		return nil, err
	}
	show := bench.Lines(w, asJSON, text)
	var rows []Row
	err = Run(ctx, c, func(r Row) error {
		rows = append(rows, r)
		return show(r)
	})
	return c.curves(rows), err
}

// text is a row in columns, the first of a pattern below a heading.
func text(r Row) (line string) {
	if r.Sample == 0 {
		line = "pattern     ms   epoch  loan min/mean/max    bank  stalls  revokes  granted returned   messages/s throughput\n"
	}
	return line + fmt.Sprintf("%-7s %6.0f %7.1f %5d/%6.1f/%5d %7.1f %7d %8d %8d %8d %12.0f %10.2f\n", r.Pattern,
		r.Millis, r.Epoch, r.LoanMin, r.LoanMean, r.LoanMax, r.Bank, r.Stalls, r.Revokes, r.Granted, r.Returned,
		r.Rate, r.Throughput)
}

// curves are a panel of credits and one of throughput for each pattern. The axis that has the number of threads
// elsewhere has the number of the sample, from 1; axes are logarithmic, so nothing that is 0 is drawn.
func (c Config) curves(rows []Row) (out []bench.Row) {
	for _, r := range rows {
		add := func(panel, impl, unit string, v float64) {
			out = append(out, bench.Row{
				Bench: fmt.Sprintf("%s, by sample of %v (%s, %d ranks)", panel, c.Length/samples, r.Pattern, c.Ranks),
				Impl:  impl, Threads: r.Sample + 1, Axis: "sample, from 1", Value: v, Unit: unit, MinShare: 1,
			})
		}
		add("loans and bank", "largest loan", "credits", float64(r.LoanMax))
		add("loans and bank", "mean loan", "credits", r.LoanMean)
		add("loans and bank", "least loan", "credits", float64(r.LoanMin))
		add("loans and bank", "bank", "credits", r.Bank)
		add("throughput", "dynamic credits", "of that without flow control", r.Throughput)
	}
	return out
}
