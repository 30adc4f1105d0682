//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// made counts the namespaces, each of which has names and addresses of its own.
var made int

// machines makes n network namespaces that stand for machines. A cable of its own joins each to this one. It returns
// the namespaces' names, and those of the cables' ends on this side.
func machines(t *testing.T, n int) (names, cables []string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces can only be made by root")
	}
	pid := os.Getpid()
	for range n {
		i := made // the kernel takes its time to forget names and addresses
		made++
		name, cable := fmt.Sprintf("golci-%d-%d", pid, i), fmt.Sprintf("gv%d-%d", pid, i)
		net := fmt.Sprintf("10.%d.%d.", 200+pid%50, pid/50%250)
		ip(t, "netns", "add", name)
		t.Cleanup(func() { // the cable goes with it
			if out, err := exec.Command("ip", "netns", "del", name).CombinedOutput(); err != nil {
				t.Errorf("ip netns del %s: %v: %s", name, err, out)
			}
		})
		ip(t, "link", "add", cable, "type", "veth", "peer", "name", "v", "netns", name)
		ip(t, "addr", "add", fmt.Sprintf("%s%d/30", net, 4*i+1), "dev", cable)
		ip(t, "-n", name, "addr", "add", fmt.Sprintf("%s%d/30", net, 4*i+2), "dev", "v")
		ip(t, "link", "set", cable, "up")
		ip(t, "-n", name, "link", "set", "v", "up")
		ip(t, "-n", name, "link", "set", "lo", "up")
		names, cables = append(names, name), append(cables, cable)
	}
	return names, cables
}

func ip(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Skipf("this machine has no network namespaces to use: ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// overNetns has golci reach the namespaces.
var overNetns = []string{"-rsh", "ip netns exec"}

func TestNetnsJoin(t *testing.T) {
	names, _ := machines(t, 3)
	hosts := fmt.Sprintf("%s:2,localhost:1,%s:2,%s:1", names[0], names[1], names[2])
	r := run(t, golci(t, onHosts(hosts, "join", append(overNetns, "-prefix")...)...))
	r.want(t, 0, "")
	var want []string
	for rank, local := range []int{2, 2, 1, 2, 2, 1} {
		want = append(want, fmt.Sprintf("[%d] rank %d of 6 local %d launcher golci", rank, rank, local))
	}
	if got := sorted(r.out); !slices.Equal(got, want) {
		t.Errorf("got %q\n%s", got, r.err)
	}
}

// TestNetnsCut cuts the cable to a machine. Neither side hears of the other, and both end all their processes.
func TestNetnsCut(t *testing.T) {
	names, cables := machines(t, 2)
	cmd := golci(t, onHosts(names[0]+":1,"+names[1]+":1", "family", append(overNetns, "-silence", "2s")...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	lines := startLines(t, cmd)
	pids := append(strings.Fields(lines.next()), strings.Fields(lines.next())...)
	pids = append(pids, descend(fmt.Sprint(cmd.Process.Pid), nil)...)
	if len(pids) < 4+2+2 {
		t.Fatalf("processes %v", pids)
	}
	ip(t, "link", "set", cables[1], "down")
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(stderr.String(), "host "+names[1]+" is lost with rank(s) 1: ") {
		t.Errorf("code %d: %s", code, &stderr)
	}
	for _, pid := range pids {
		wantGone(t, pid)
	}
}
