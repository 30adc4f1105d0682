package rank

import (
	"context"
	"strings"
	"testing"

	"github.com/golci/golci/fult"
)

// TestStuckText: the report of what does not move also says what a layer's operations wait for. It does not where a
// poll is what does not move, since that may hold the locks of the layers.
func TestStuckText(t *testing.T) {
	const reason = "deadlock: a waits for b; b waits for a"
	waits := 2
	team, err := Local(1, Config{Attach: func(r *Rank) error {
		return r.Attach(Layer{
			Unended: func() (int, func() string) { return waits, func() string { return reason } },
			Ask: func(ctx context.Context) []string {
				if _, ok := ctx.Deadline(); !ok {
					t.Error("a layer may ask without end")
				}
				return []string{"asked"}
			},
		})
	}})
	if err != nil {
		t.Fatal(err)
	}
	err = team.Run(func(r *Rank) error {
		for _, c := range []struct {
			report fult.StuckReport
			told   bool
		}{
			{fult.StuckReport{Closing: true, Thread: true}, true},
			{fult.StuckReport{Thread: true}, true},
			{fult.StuckReport{Thread: true, Asleep: true}, false},
			{fult.StuckReport{}, false},
		} {
			text := r.report.StuckText(c.report)
			if !strings.HasPrefix(text, "golci: rank 0 of 1: ") ||
				strings.Contains(text, "2 operations wait; the first: "+reason+"\n  asked\n") != c.told ||
				strings.Contains(text, "asked") != c.told {
				t.Errorf("%+v: %s", c.report, text)
			}
		}
		waits = 0
		if text := r.report.StuckText(fult.StuckReport{Closing: true}); strings.Contains(text, "wait;") {
			t.Errorf("nothing waits: %s", text)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
