package jobtest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlantedRace: the race detector reports a data race between two threads of one rank, and nothing where messages
// order their accesses.
func TestPlantedRace(t *testing.T) {
	if testing.Short() {
		t.Skip("builds itself with -race")
	}
	t.Parallel()
	bin := filepath.Join(t.TempDir(), "planted")
	out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-race", "-o", bin, ".").CombinedOutput()
	if err != nil {
		if strings.Contains(string(out), "requires cgo") || strings.Contains(string(out), "C compiler") {
			t.Skipf("no race detector here: %v\n%s", err, out)
		}
		t.Fatalf("go test -c -race: %v\n%s", err, out)
	}
	wantRace(t, bin)
	out, err = exec.CommandContext(t.Context(), bin, plantedWord, mendedWord).CombinedOutput()
	if err != nil || string(out) != "done\n" {
		t.Errorf("mended: %v\n%s", err, out)
	}
}

// wantRace runs the program until the race is reported. The detector keeps a short history. In one run of fifty the
// other thread has done so much since its access that no report comes.
func wantRace(t *testing.T, bin string) {
	t.Helper()
	const runs = 5
	for run := 1; ; run++ {
		out, err := exec.CommandContext(t.Context(), bin, plantedWord).CombinedOutput()
		text := string(out)
		if err != nil && strings.Contains(text, "WARNING: DATA RACE") && strings.Contains(text, "jobtest.careless") {
			first, _, _ := strings.Cut(text, "Goroutine")
			t.Logf("run %d: %v\n%s", run, err, first)
			return
		}
		if run == runs {
			t.Errorf("the race was not reported: %v\n%s", err, out)
			return
		}
	}
}
