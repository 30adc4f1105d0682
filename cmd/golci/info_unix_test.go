//go:build unix

package main

import (
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestInfoThreads: golci info tells what threads are. A golci for which its release of Go is too new tells that, too. A
// job built in the same way says so on each rank, and ends well.
func TestInfoThreads(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	dir := t.TempDir()
	newer := "-ldflags=-X github.com/golci/golci/fult.newestTested=go1.20"
	for _, program := range []string{".", "../../examples/pagerank"} {
		out, err := exec.CommandContext(t.Context(), "go", "build", newer, "-o", dir+"/", program).CombinedOutput()
		if err != nil {
			t.Fatalf("go build: %v\n%s", err, out)
		}
	}
	why := runtime.Version() + " is newer than go1.20, the newest tested"
	for setting, want := range map[string]string{
		"auto": "goroutine, not coroutines: " + why + "\n", "fult": "fult\n", "goroutine": "goroutine\n",
	} {
		cmd := golci(t, "info")
		cmd.Path, cmd.Env = dir+"/golci", append(cmd.Env, "GOLCI_SCHEDULER="+setting)
		if out := run(t, cmd).out; !regexp.MustCompile(`(?m)^threads +` + regexp.QuoteMeta(want)).MatchString(out) {
			t.Errorf("%s: no threads %q in\n%s", setting, want, out)
		}
	}
	r := run(t, golci(t, "run", "-n", "2", dir+"/pagerank"))
	r.want(t, 0, "")
	if n := strings.Count(r.err, "threads are goroutines, not coroutines: "+why); n != 2 {
		t.Errorf("%d of 2 ranks tell that their threads are goroutines:\n%s", n, r.err)
	}
}
