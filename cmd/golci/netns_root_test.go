//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/internal/platform/invariants"
)

// pod makes the command of a rank on a machine of its own, as Kubernetes starts the pods of an indexed Job. Rank 0 is
// on the first machine.
func (w *world) pod(rank int, env ...string) *exec.Cmd {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	w.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "ip", "netns", "exec", w.hosts[rank], os.Args[0])
	cmd.Env = append(os.Environ(), "GOLCI_ROOT="+net.JoinHostPort(w.nets[0]+"1", "7000"),
		fmt.Sprintf("GOLCI_SIZE=%d", len(w.hosts)), fmt.Sprintf("JOB_COMPLETION_INDEX=%d", rank),
		"GOLCI_SECRET="+strings.Repeat("0123456789abcdef", 2))
	cmd.Env = append(cmd.Env, env...)
	cmd.WaitDelay = time.Second
	return cmd
}

// TestNetnsRoot: a rank on each of four machines, and no launcher. Rank 0 is the last to come.
func TestNetnsRoot(t *testing.T) {
	if invariants.Race {
		t.Skip("slow under the race detector, which sees as much in package boot: " +
			"another way to meet changes nothing in a rank")
	}
	for _, v6 := range []bool{false, true} {
		w := newWorld(t, plan{hosts: 4, v6: v6})
		results := make(chan result, len(w.hosts))
		for r := len(w.hosts) - 1; r >= 0; r-- {
			cmd := w.pod(r, roleVar+"=rounds", roundsVar+"=100")
			go func() { results <- run(t, cmd) }()
			time.Sleep(100 * time.Millisecond)
		}
		var out string
		for range w.hosts {
			r := <-results
			r.want(t, 0, "")
			out += r.out
		}
		if out != "all 4 ranks are done\n" {
			t.Errorf("IPv6 %v: %s", v6, out)
		}
		w.wantDeserted()
		w.wantNoSockets()
	}
}

// TestNetnsRootKilled: a rank that is killed is named, and ends the others.
func TestNetnsRootKilled(t *testing.T) {
	w := newWorld(t, plan{hosts: 3})
	dir := t.TempDir()
	letEnd(t, dir)
	var said strings.Builder
	var cmds []*exec.Cmd
	pids := map[string]string{}
	lines := make([]lineReader, len(w.hosts))
	for r := range w.hosts {
		cmd := w.pod(r, roleVar+"=talkers", dirVar+"="+dir, "GOLCI_DEADAFTER=5s")
		if r == 0 {
			cmd.Stderr = &said
		}
		lines[r] = startLines(t, cmd)
		cmds = append(cmds, cmd)
	}
	for _, l := range lines {
		line := strings.Fields(l.next())
		pids[line[0]] = line[1]
	}
	kill(t, pids["2"])
	for i, cmd := range cmds {
		if err := cmd.Wait(); err == nil {
			t.Errorf("rank %d has ended well", i)
		}
	}
	if !strings.Contains(said.String(), "golci: rank 2 on ") {
		t.Errorf("rank 0 does not name rank 2: %s", said.String())
	}
	w.wantDeserted()
	w.wantNoSockets()
}
