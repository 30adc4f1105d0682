package rank

import (
	"bytes"
	"io"
	"testing"

	"github.com/golci/golci/fult"
)

// TestDumpWithoutThreadsTakesNoStacks: a rank whose threads all wait, and one that is finalized, tell all without them.
func TestDumpWithoutThreadsTakesNoStacks(t *testing.T) {
	var last *Rank
	never := func() *fult.Stacks {
		t.Error("stacks are taken")
		return fult.TakeStacks()
	}
	must(t, 1, with("GOLCI_WORKERS", "1"), func(r *Rank) error {
		last = r
		r.report.Dump(io.Discard, never) // no worker has started
		return nil
	})
	var b bytes.Buffer
	last.report.Dump(&b, never)
	if b.String() != "golci: rank 0 of 1: finalized\n" {
		t.Errorf("%q", b.String())
	}
}
