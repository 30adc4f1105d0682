package rank

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/tool"
	"github.com/golci/golci/rank/internal/report"
)

// Report collects what the layers of a rank wait for, for a dump.
type Report = report.Report

// Dump writes a report of what the rank waits for to w: what its layers tell of calls and messages, and threads. That
// is one write. Where threads run is a second one, since it has to wait for the stacks of all goroutines
// (fult.TakeStacks). Dump does not wait for communication.
func (r *Rank) Dump(w io.Writer) { r.report.Dump(w, fult.TakeStacks) }

// Counters gives the performance variables of the rank's threads, credits and datagrams. Those of layers are 0. It
// takes time in proportion to the ranks of the job, and waits for a poll that is under way, so handlers must not call
// it. After the rank's end it gives the last values.
func (r *Rank) Counters() tool.Values { return r.counted.Read() }

// collectReport adds what the layers and calls of BlockUntil tell to x.
func (r *Rank) collectReport(x *Report) {
	for _, l := range r.attached() {
		if l.Report != nil {
			l.Report(x)
		}
	}
	if n := int(r.untils.n.Load()); n > 0 {
		x.Calls += n
		x.Lines = append(x.Lines, report.Plural(n, "call of BlockUntil waits", "calls of BlockUntil wait"))
	}
}

// askLayers is what the layers learn from other ranks, in lines.
func (r *Rank) askLayers(ctx context.Context) (lines []string) {
	for _, l := range r.attached() {
		if l.Ask != nil && !r.closed.Load() {
			lines = append(lines, l.Ask(ctx)...)
		}
	}
	return lines
}

// unendedOps is how many operations of the layers have not ended. first describes one of them.
func (r *Rank) unendedOps() (n int, first func() string) {
	for _, l := range r.attached() {
		if l.Unended == nil {
			continue
		}
		m, one := l.Unended()
		if n == 0 {
			first = one
		}
		n += m
	}
	return n, first
}

// reportStuck tells the user of a worker or a thread that does not move. The scheduler's monitor calls it, too.
func (r *Rank) reportStuck(s fult.StuckReport) { fmt.Fprint(os.Stderr, r.report.StuckText(s)) }
