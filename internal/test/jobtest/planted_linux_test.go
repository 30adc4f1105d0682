package jobtest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
)

// TestPlantedRace: the race detector reports a data race between two threads of one rank, and nothing where messages
// order their accesses.
func TestPlantedRace(t *testing.T) {
	if !invariants.Race {
		t.Skip("only programs for the race detector report races: go test -race")
	}
	t.Parallel()
	bin, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	wantRace(t, bin)
	out, err := exec.CommandContext(t.Context(), bin, plantedWord, mendedWord).CombinedOutput()
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
