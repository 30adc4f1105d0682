//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
)

// hydraShell is a remote shell for mpiexec that enters namespaces.
const hydraShell = "#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\nhost=$1\nshift\nexec ip netns exec \"$host\" sh -c \"$*\"\n"

// mpiexec makes a command of MPICH's launcher for a job of two ranks on each machine.
func (w *world) mpiexec(prog ...string) *exec.Cmd {
	w.t.Helper()
	path, err := exec.LookPath("mpiexec.mpich")
	if err != nil {
		w.t.Skip("mpiexec.mpich is not installed")
	}
	shell := filepath.Join(w.t.TempDir(), "rsh")
	if err := os.WriteFile(shell, []byte(hydraShell), 0o700); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	w.t.Cleanup(cancel)
	args := []string{
		"-launcher", "ssh", "-launcher-exec", shell, "-hosts", w.slots(2), "-n", fmt.Sprint(2 * len(w.hosts)), "-localhost", w.head,
	}
	return exec.CommandContext(ctx, path, append(args, prog...)...)
}

// TestNetnsMpiexec: four machines of two ranks under MPICH's launcher.
func TestNetnsMpiexec(t *testing.T) {
	if invariants.Race {
		t.Skip("slow under the race detector, which sees as much in TestNetnsIPv6: another launcher changes nothing in a rank")
	}
	w := newWorld(t, plan{hosts: 4})
	cmd := w.mpiexec(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"=rounds", roundsVar+"=100")
	r := run(t, cmd)
	r.want(t, 0, "")
	if r.out != "all 8 ranks are done\n" {
		t.Errorf("%s%s", r.out, r.err)
	}
	w.wantDeserted()
	w.wantNoSockets()
}

// TestNetnsMpiexecPagerank: the example ranks a graph there as it does alone.
func TestNetnsMpiexecPagerank(t *testing.T) {
	prog := example(t, "pagerank")
	args := []string{prog, "-check", "-scale", "12"}
	alone := run(t, golci(t, append([]string{"run"}, args...)...))
	w := newWorld(t, plan{hosts: 4})
	r := run(t, w.mpiexec(args...))
	r.want(t, 0, "")
	if got := ranking(r.out); got == "" || got != ranking(alone.out) || !strings.Contains(r.out, "check: equal to a serial run") {
		t.Errorf("got\n%swant\n%s", r.out, alone.out)
	}
	w.wantDeserted()
}

// TestNetnsMpiexecKill: a rank that is killed ends the job there, too, and nothing is left.
func TestNetnsMpiexecKill(t *testing.T) {
	w := newWorld(t, plan{hosts: 2})
	dir := t.TempDir()
	letEnd(t, dir)
	cmd := w.mpiexec(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"=talkers", dirVar+"="+dir, "GOLCI_DEADAFTER=5s")
	lines := startLines(t, cmd)
	pids := map[string]string{}
	for range 4 {
		line := strings.Fields(lines.next())
		pids[line[0]] = line[1]
	}
	kill(t, pids["3"])
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code == 0 {
		t.Error("the job has ended well")
	}
	for _, pid := range pids {
		wantGone(t, pid)
	}
	w.wantDeserted()
	w.wantNoSockets()
}
