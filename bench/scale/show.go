package scale

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"

	"github.com/golci/golci/bench"
)

// Show runs c and writes every row to w as it comes, as one JSON object in a line or in columns. It ends early, with
// the context's error, when ctx is cancelled.
func Show(ctx context.Context, c Config, w io.Writer, asJSON bool) error {
	defer debug.SetGCPercent(debug.SetGCPercent(tight))
	var last string
	return Run(ctx, c, bench.Lines(w, asJSON, func(r Row) (text string) {
		if r.Measure != last {
			last = r.Measure
			text = fmt.Sprintf("# %s: %s\n%-9s %7s %7s %10s %7s %12s %11s %11s %10s %12s\n", r.Measure, r.Note,
				"measure", "ranks", "rounds", "messages", "max", "bytes", "max", "launcher", "state", "time us")
		}
		return text + r.text()
	}))
}

// tight limits the collector to what is in use and a part of it, so that the largest job fits a small machine.
const tight = 40

func (r *Row) text() string {
	rounds := "-"
	if r.Rounds > 0 {
		rounds = strconv.Itoa(r.Rounds)
	}
	return fmt.Sprintf("%-9s %7d %7s %10.1f %7d %12.0f %11d %11d %10d %12.0f\n", r.Measure, r.Ranks, rounds,
		r.MessagesMean, r.MessagesMax, r.BytesMean, r.BytesMax, r.Launcher, r.State, r.Time)
}
