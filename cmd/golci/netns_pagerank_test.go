//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// graphVar names an edge list for the tests; by default the one beside the checkout is taken.
const graphVar = "GOLCI_TEST_GRAPH"

// graph is the friendships among 4,039 users of Facebook, from SNAP.
func graph(t *testing.T) string {
	t.Helper()
	path := os.Getenv(graphVar)
	if path == "" {
		path = "../../../shared/data/facebook_combined.txt"
	}
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Skipf("no such graph here, %s names it: %v", graphVar, err)
	}
	return path
}

// example builds an example program and returns its path.
func example(t *testing.T, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds an example")
	}
	bin := filepath.Join(t.TempDir(), name)
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "../../examples/"+name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return bin
}

// ranking is the lines of vertex and score that pagerank prints.
func ranking(out string) (lines string) {
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "graph: ") {
			return lines
		}
		lines += line
	}
	return ""
}

// blackout is how long a machine is cut off in the middle of a job that goes on afterwards.
const blackout = 2 * time.Second

// TestNetnsPagerank: four machines of two ranks rank a graph as one rank does. One machine is cut off for a while.
func TestNetnsPagerank(t *testing.T) {
	prog := example(t, "pagerank")
	for name, c := range map[string]struct {
		args func(t *testing.T) []string
		cut  func(w *world, host, net int)
	}{
		"facebook, cut": {func(t *testing.T) []string { return []string{"-undirected", graph(t)} }, (*world).cut},
		"random, down":  {func(*testing.T) []string { return []string{"-scale", "15"} }, (*world).unplug},
	} {
		t.Run(name, func(t *testing.T) {
			// More iterations than needed, so that the job still runs at the cut, also on a busy machine.
			args := append([]string{prog, "-check", "-tolerance", "1e-300"}, c.args(t)...)
			alone := run(t, golci(t, append([]string{"run"}, args...)...))
			alone.want(t, 0, "")
			w := newWorld(t, plan{hosts: 4})
			cmd := golci(t, append(append([]string{"run", "-hosts", w.slots(2)}, overNetns...), args...)...)
			var out, stderr strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			w.blackOut(3, c.cut)
			if err := <-ended; err != nil {
				t.Fatalf("%v: %s", err, &stderr)
			}
			if got, want := ranking(out.String()), ranking(alone.out); got == "" || got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
			if !strings.Contains(out.String(), "check: equal to a serial run") || !strings.Contains(out.String(), "ranks: 8, ") {
				t.Errorf("no check by 8 ranks:\n%s", &out)
			}
			w.wantDeserted()
		})
	}
}

// blackOut cuts a machine off in the middle of the job, and connects it again. It fails if the job did not need the
// machine afterwards.
func (w *world) blackOut(host int, cut func(w *world, host, net int)) {
	w.t.Helper()
	const underWay, rest = 512 << 10, 200 << 10 // bytes
	if !eventually(func() bool { return w.sent(host, 0).bytes > underWay }) {
		w.t.Fatalf("the job has sent %+v", w.sent(host, 0))
	}
	cut(w, host, 0)
	time.Sleep(blackout)
	before := w.sent(host, 0)
	w.heal(host, 0)
	if !eventually(func() bool { return w.sent(host, 0).bytes-before.bytes > rest }) {
		w.t.Errorf("the job has sent %+v, and then %+v: it was over before, or did not go on", before, w.sent(host, 0))
	}
}
