package report

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/golci/golci/fult"
)

// StuckText is the report of a worker or a thread that does not move, and what the layers say of operations that wait.
// A poll that does not end holds locks of the layers, so these are not asked then. Nor are they where threads sleep and
// the rank goes on.
func (r *Reporter) StuckText(s fult.StuckReport) string {
	what := strings.TrimPrefix(s.String(), "fult: ")
	if s.Closing {
		what = fmt.Sprintf("Finalize waits for thread %v, for %v now\n%s", s.ID, s.For.Round(time.Millisecond), s.Advice())
	}
	text := r.head() + what + "\n"
	if s.Asleep || !s.Thread && !s.Closing {
		return text
	}
	if n, first := r.Unended(); n > 0 {
		text += fmt.Sprintf("  %s; the first: %s\n", Plural(n, "operation waits", "operations wait"), first())
	}
	return text + r.askText()
}

// askTime is how long a report waits for other ranks. It is part of quitGrace.
const askTime = 100 * time.Millisecond

// askText is what the layers learn from other ranks, for a report.
func (r *Reporter) askText() string {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	var b strings.Builder
	for _, line := range r.Ask(ctx) {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	return b.String()
}
