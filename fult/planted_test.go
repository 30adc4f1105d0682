package fult

import (
	"os/exec"
	"strings"
	"testing"
)

// TestRaceDetectorSeesThreads runs a program with a planted data race between two threads of one worker. A scheduler
// that switches coroutines would hide that race. The same program without the race must pass.
func TestRaceDetectorSeesThreads(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("builds a program with -race; done by the build without")
	}
	bin := t.TempDir() + "/planted"
	if out, err := exec.Command("go", "build", "-race", "-o", bin, "./testdata/planted").CombinedOutput(); err != nil {
		t.Skipf("no race detector here: %v\n%s", err, out)
	}
	out, err := exec.Command(bin).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "WARNING: DATA RACE") || !strings.Contains(string(out), "main.careless") {
		t.Errorf("the race was not reported: %v\n%s", err, out)
	}
	if out, err := exec.Command(bin, "mended").CombinedOutput(); err != nil {
		t.Errorf("mended: %v\n%s", err, out)
	}
	if out, err := exec.Command(bin, "many").CombinedOutput(); err != nil {
		t.Errorf("more threads than the detector allows: %v\n%s", err, out)
	}
}
