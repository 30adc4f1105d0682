package report

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/test/udptest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(udptest.Patiently(m)) }

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

// idle reports of a rank on which no call waits.
func idle(job *boot.Job, sched *fult.Scheduler, how string) *Reporter {
	return &Reporter{
		Job: job, Threads: sched, How: how, Collect: func(*Report) {}, Ask: func(context.Context) []string { return nil },
		Unended:    func() (int, func() string) { return 0, nil },
		Finalizing: func() bool { return false }, Closed: func() bool { return false },
	}
}

// TestQuitReport: all ranks of the process first tell what waits, by number. Where threads run, and the stacks that were
// asked for, come after that. Stacks are taken once for all, and not before the first part is written.
func TestQuitReport(t *testing.T) {
	for _, how := range []string{"calls", "stacks"} {
		t.Run(how, func(t *testing.T) {
			jobs, err := boot.Local(2)
			if err != nil {
				t.Fatal(err)
			}
			var end atomic.Bool
			var begun atomic.Int32
			var hs []fult.Handle
			for _, job := range jobs {
				sched, err := fult.New(fult.Config{Workers: 1})
				if err != nil {
					t.Fatal(err)
				}
				defer sched.Close()
				defer OnQuit(idle(job, sched, how))()
				h, err := sched.Go(func(*fult.Thread) {
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
			if listens := quitDumps.sig != nil; listens != (quitSignal != nil) {
				t.Errorf("SIGQUIT is taken: %v", listens)
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
			checkQuitReport(t, out, how == "stacks", taken)
		})
	}
}

func checkQuitReport(t *testing.T, out pieces, stacks bool, taken int) {
	want := []string{"rank 0 of 2: 0 calls wait, 1 thread,", "rank 1 of 2: 0 calls wait, 1 thread,"}
	if !invariants.Race { // its threads are goroutines, which may all run
		for i := range 2 {
			want = append(want,
				fmt.Sprintf("rank %d of 2: where threads run\n  thread 0.0 runs, in "+
					"github.com/golci/golci/rank/internal/report.", i))
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

// TestLongReports are cut, unless all is asked for.
func TestLongReports(t *testing.T) {
	jobs, err := boot.Local(1)
	if err != nil {
		t.Fatal(err)
	}
	sched, err := fult.New(fult.Config{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer sched.Close()
	for how, most := range map[string]int{"calls": reportLines, "all": 3 * reportLines} {
		r := idle(jobs[0], sched, how)
		r.Collect = func(x *Report) {
			for i := range 3 * reportLines {
				x.Lines = append(x.Lines, fmt.Sprint("line ", i))
			}
		}
		text := string(r.reportWaits())
		cut := fmt.Sprintf("\n  and %d lines more; GOLCI_DUMP=all shows all\n", 2*reportLines)
		if strings.Count(text, "  line ") != most || strings.HasSuffix(text, cut) != (how == "calls") {
			t.Errorf("%s: %s", how, text)
		}
	}
}
