package jobtest

import (
	"testing"

	"github.com/golci/golci/bench"
	loops "github.com/golci/golci/bench/ranks"
	"github.com/golci/golci/internal/platform/invariants"
)

// TestManyThreads has tens of thousands of threads blocked in two processes, and serves them.
func TestManyThreads(t *testing.T) {
	if testing.Short() || invariants.Race {
		t.Skip("needs more threads than the race detector allows, and some 150 MB")
	}
	j := golci(t, "bench", "million", "-threads", "20000", "-json")
	j.succeed()
	rows := make(map[string]bench.Row)
	if err := bench.ReadJSON(&j.out.buf, func(r bench.Row) { rows[r.Bench] = r }); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		loops.Million, loops.GoMemory, loops.MillionRate, loops.Collecting, loops.CollectionMs, loops.PauseMs,
	} {
		r, ok := rows[name]
		if !ok || r.Value <= 0 || r.Threads != 20000 {
			t.Errorf("%s: %+v", name, r)
		}
		t.Logf("%-16s %10.0f %s (%s)", name, r.Value, r.Unit, r.Note)
	}
	perThread.check(t, rows[loops.Million].Value, "20,000 threads a rank")
}
