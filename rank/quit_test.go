package rank

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/invariants"
)

// pieces keeps each write on its own.
type pieces []string

func (p *pieces) Write(b []byte) (int, error) {
	*p = append(*p, string(b))
	return len(b), nil
}

// compute is what a thread computes until end is set.
//
//go:noinline
func compute(end *atomic.Bool) {
	for !end.Load() {
	}
}

// TestQuitReport: all ranks of the process first tell what waits, by number. Where threads run, and the stacks that were
// asked for, come after that. Stacks are taken once for all, and not before the first part is written.
func TestQuitReport(t *testing.T) {
	for _, how := range []string{"calls", "stacks"} {
		t.Run(how, func(t *testing.T) {
			cfg := with("GOLCI_DUMP", how, "GOLCI_WORKERS", "1")
			cfg.QuitDump = true
			team, err := Local(2, cfg)
			if err != nil {
				t.Fatal(err)
			}
			var end atomic.Bool
			var begun atomic.Int32
			var hs []fult.Handle
			for _, r := range team.Ranks() {
				h, err := r.Go(func() {
					begun.Add(1)
					compute(&end)
				})
				if err != nil {
					t.Fatal(err)
				}
				hs = append(hs, h)
			}
			for begun.Load() < 2 {
			}
			var out pieces
			taken := 0
			quitDumps.tellAll(&out, func() *fult.Stacks {
				taken++
				if len(out) != 2 {
					t.Errorf("stacks are taken after %d writes", len(out))
				}
				return fult.TakeStacks()
			})
			end.Store(true)
			for _, h := range hs {
				if err := h.Join(); err != nil {
					t.Error(err)
				}
			}
			if err := team.Run(func(*Rank) error { return nil }); err != nil {
				t.Error(err)
			}
			checkQuitReport(t, out, how == "stacks", taken)
		})
	}
}

func checkQuitReport(t *testing.T, out pieces, stacks bool, taken int) {
	want := []string{"rank 0 of 2: 0 calls wait, 1 thread,", "rank 1 of 2: 0 calls wait, 1 thread,"}
	if !invariants.Race { // its threads are goroutines, which may all run
		for i := range 2 {
			want = append(want,
				fmt.Sprintf("rank %d of 2: where threads run\n  thread 0.0 runs, in github.com/golci/golci/rank.", i))
		}
	}
	if stacks {
		want = append(want, "rank 0 of 2: stacks of goroutines and threads")
	}
	if len(out) != len(want) {
		t.Fatalf("%d writes: %q", len(out), out)
	}
	for i := range want {
		if !strings.HasPrefix(out[i], "golci: "+want[i]) {
			t.Errorf("%q, want %q", out[i], want[i])
		}
	}
	times := 1
	if invariants.Race && !stacks {
		times = 0
	}
	if taken != times {
		t.Errorf("stacks were taken %d times", taken)
	}
}

// TestDumpWithoutThreadsTakesNoStacks: a rank whose threads all wait, and one that is finalized, tell all without them.
func TestDumpWithoutThreadsTakesNoStacks(t *testing.T) {
	var last *Rank
	never := func() *fult.Stacks {
		t.Error("stacks are taken")
		return fult.TakeStacks()
	}
	must(t, 1, with("GOLCI_WORKERS", "1"), func(r *Rank) error {
		last = r
		r.dump(io.Discard, never) // no worker has started
		return nil
	})
	var b bytes.Buffer
	last.dump(&b, never)
	if b.String() != "golci: rank 0 of 1: finalized\n" {
		t.Errorf("%q", b.String())
	}
}

// TestLongReports are cut, unless all is asked for.
func TestLongReports(t *testing.T) {
	for how, most := range map[string]int{"calls": reportLines, "all": 3 * reportLines} {
		cfg := with("GOLCI_DUMP", how)
		cfg.Attach = func(r *Rank) error {
			return r.Attach(Layer{Report: func(x *Report) {
				for i := range 3 * reportLines {
					x.Lines = append(x.Lines, fmt.Sprint("line ", i))
				}
			}})
		}
		must(t, 1, cfg, func(r *Rank) error {
			text := string(r.reportWaits())
			cut := fmt.Sprintf("\n  and %d lines more; GOLCI_DUMP=all shows all\n", 2*reportLines)
			if strings.Count(text, "  line ") != most || strings.HasSuffix(text, cut) != (how == "calls") {
				t.Errorf("%s: %s", how, text)
			}
			return nil
		})
	}
}
