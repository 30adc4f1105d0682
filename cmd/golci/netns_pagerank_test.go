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
			args = append(append([]string{"run", "-hosts", w.slots(2)}, overNetns...), args...)
			for try := 1; !w.rankOverCut(args, c.cut, ranking(alone.out)); try++ {
				if try == 5 {
					t.Fatal("the job was over before the cut, five times")
				}
			}
			w.wantDeserted()
		})
	}
}

// rankOverCut runs the ranking, and cuts a machine off in the middle. It says whether the job needed the machine
// afterwards. Where this process was slow to see the job's beginning, the job may be over by then.
func (w *world) rankOverCut(args []string, cut func(w *world, host, net int), want string) bool {
	w.t.Helper()
	cmd := golci(w.t, args...)
	var out, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &stderr
	begin := w.sent(cutHost, 0).bytes
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	var end error
	ended := make(chan struct{})
	go func() {
		end = cmd.Wait()
		close(ended)
	}()
	needed := w.blackOut(begin, cut, ended)
	<-ended
	if end != nil {
		w.t.Fatalf("%v: %s", end, &stderr)
	}
	if got := ranking(out.String()); got == "" || got != want {
		w.t.Errorf("got\n%swant\n%s", got, want)
	}
	if !strings.Contains(out.String(), "check: equal to a serial run") || !strings.Contains(out.String(), "ranks: 8, ") {
		w.t.Errorf("no check by 8 ranks:\n%s", &out)
	}
	return needed
}

// cutHost is the machine that is cut off.
const cutHost = 3

// blackOut cuts a machine off in the middle of the job, and connects it again. It says whether the job needed the
// machine afterwards, and fails if the job has neither used it nor ended.
func (w *world) blackOut(begin int, cut func(w *world, host, net int), ended <-chan struct{}) bool {
	w.t.Helper()
	const underWay, rest = 512 << 10, 200 << 10 // bytes
	over := func() bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	}
	if !eventually(func() bool { return w.sent(cutHost, 0).bytes-begin > underWay || over() }) {
		w.t.Fatalf("the job has sent %+v", w.sent(cutHost, 0))
	}
	cut(w, cutHost, 0)
	time.Sleep(blackout)
	before := w.sent(cutHost, 0)
	w.heal(cutHost, 0)
	goesOn := func() bool { return w.sent(cutHost, 0).bytes-before.bytes > rest }
	if !eventually(func() bool { return goesOn() || over() }) {
		w.t.Errorf("the job has sent %+v, and then %+v: it does not go on", before, w.sent(cutHost, 0))
	}
	return goesOn()
}
