//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
)

// play starts a job of as many ranks on each machine, and returns it with its two streams.
func (w *world) play(role string, each, rounds int, flags ...string) (cmd *exec.Cmd, out, stderr *strings.Builder) {
	w.t.Helper()
	cmd, out, stderr = w.job(role, each, rounds, flags...)
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return cmd, out, stderr
}

// job is play that leaves the start to the caller.
func (w *world) job(role string, each, rounds int, flags ...string) (cmd *exec.Cmd, out, stderr *strings.Builder) {
	w.t.Helper()
	args := append([]string{"run", "-hosts", w.slots(each), "-env", roleVar + "=" + role, "-env", fmt.Sprintf("%s=%d", roundsVar, rounds)}, overNetns...)
	cmd = golci(w.t, append(append(args, flags...), os.Args[0])...)
	out, stderr = new(strings.Builder), new(strings.Builder)
	cmd.Stdout, cmd.Stderr = out, stderr
	return cmd, out, stderr
}

// wantDone waits for the end of a job in which all ranks come to the end.
func (w *world) wantDone(cmd *exec.Cmd, out, stderr *strings.Builder, ranks int) {
	w.t.Helper()
	err := cmd.Wait()
	if err != nil || out.String() != fmt.Sprintf("all %d ranks are done\n", ranks) {
		w.t.Errorf("%v: %s%s", err, out, stderr)
	}
	w.wantDeserted()
}

// wantSent waits until a machine has sent so many bytes more than before.
func (w *world) wantSent(host, net int, before traffic, bytes int) {
	w.t.Helper()
	var now traffic
	if !eventually(func() bool {
		now = w.sent(host, net)
		return now.bytes-before.bytes > bytes
	}) {
		w.t.Errorf("machine %d has sent %+v and then %+v through network %d", host, before, now, net)
	}
}

// TestNetnsIPv6: machines that have IPv6 only.
func TestNetnsIPv6(t *testing.T) {
	w := newWorld(t, plan{hosts: 2, v6: true})
	cmd, out, stderr := w.play("rounds", 2, 200)
	w.wantDone(cmd, out, stderr, 4)
	w.wantSent(1, 0, traffic{}, 200<<10)
}

// TestNetnsTwoNetworks: two networks are used together.
func TestNetnsTwoNetworks(t *testing.T) {
	if invariants.Race {
		t.Skip("slow under the race detector, which sees as much in TestNetnsOneOfTwo")
	}
	for _, v6 := range []bool{false, true} {
		w := newWorld(t, plan{hosts: 2, nets: 2, v6: v6})
		cmd, out, stderr := w.play("rounds", 2, 200, "-env", "GOLCI_UDP_INTERFACES=n0,n1")
		w.wantDone(cmd, out, stderr, 4)
		for net := range 2 {
			w.wantSent(0, net, traffic{}, 200<<10)
			w.wantSent(1, net, traffic{}, 200<<10)
		}
	}
}

// TestNetnsOneOfTwo: one of two networks fails in the middle of the job. The job uses the other one.
func TestNetnsOneOfTwo(t *testing.T) {
	for name, lose := range map[string]func(w *world, host, net int){"cut": (*world).cut, "down": (*world).unplug} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, plan{hosts: 2, nets: 2})
			cmd, out, stderr := w.job("rounds to the end", 1, 0, "-env", "GOLCI_UDP_INTERFACES=n0,n1")
			input, err := cmd.StdinPipe()
			if err = errors.Join(err, cmd.Start()); err != nil {
				t.Fatal(err)
			}
			w.wantSent(1, 1, traffic{}, 100<<10)
			lose(w, 1, 1)
			w.wantSent(1, 0, w.sent(1, 0), 100<<10)
			if err := input.Close(); err != nil {
				t.Fatal(err)
			}
			w.wantDone(cmd, out, stderr, 2)
		})
	}
}

// TestNetnsMTU: datagrams are as large as the cable takes, and no larger.
func TestNetnsMTU(t *testing.T) {
	mtus := []int{576, 1500, 9000}
	if invariants.Race {
		mtus = mtus[1:2] // starting a job is slow, and the same code serves all three
	}
	for _, mtu := range mtus {
		w := newWorld(t, plan{hosts: 2, mtu: mtu})
		w.oneByOne(0)
		// The stream must be much more than what the launcher sends, which includes a copy of the program.
		cmd, out, stderr := w.play("stream", 1, 16*max(1, mtu/1000))
		w.wantDone(cmd, out, stderr, 2)
		got := w.sent(0, 0)
		mean := got.bytes / got.packets
		t.Logf("MTU %d: %d packets of %d bytes in the mean", mtu, got.packets, mean)
		if most := mtu + ethernet; mean > most || mean < most*9/10 {
			t.Errorf("MTU %d: %+v, %d bytes a packet", mtu, got, mean)
		}
	}
}

// ethernet is what a veth counts of a packet beside what the MTU bounds.
const ethernet = 14

// oneByOne has the kernel split what it is given at once before it leaves the machine, so that packets can be counted.
func (w *world) oneByOne(host int) {
	w.t.Helper()
	w.in(w.hosts[host], "link", "set", face(0), "gso_max_segs", "1")
}

// TestNetnsSmallerMTU: from the middle of the job on the path takes smaller packets only. Smaller ones are sent.
func TestNetnsSmallerMTU(t *testing.T) {
	const (
		small  = 1200
		least  = 576  // the least that every host of IPv4 takes
		silent = 1280 // the least that every path of IPv6 takes; where nobody tells, it does not go below
	)
	amount := 4 // MiB, of which the stream has 32 times as much, for a machine that is slow to shrink
	if invariants.Race {
		amount = 1
	}
	for name, c := range map[string]struct {
		plan   plan
		most   int
		shrink func(w *world)
	}{
		"own interface": {plan{hosts: 2}, small, func(w *world) {
			w.must(w.hosts[0], "link", "set", face(0), "mtu", fmt.Sprint(small))
		}},
		"behind a switch that does not tell": {plan{hosts: 2}, silent, func(w *world) {
			w.must(w.sw, "link", "set", port(1, 0), "mtu", fmt.Sprint(silent))
		}},
		"behind a router": {plan{hosts: 2, routed: true}, small, func(w *world) {
			w.must(w.hosts[1], "link", "set", face(0), "mtu", fmt.Sprint(small))
			w.must(w.sw, "link", "set", port(1, 0), "mtu", fmt.Sprint(small))
		}},
		"behind a router, the least": {plan{hosts: 2, routed: true}, least, func(w *world) {
			w.must(w.hosts[1], "link", "set", face(0), "mtu", fmt.Sprint(least))
			w.must(w.sw, "link", "set", port(1, 0), "mtu", fmt.Sprint(least))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.plan)
			w.oneByOne(0)
			cmd, out, stderr := w.play("stream", 1, 32*amount)
			w.wantSent(0, 0, traffic{}, amount<<20)
			c.shrink(w)
			w.wantSent(0, 0, w.sent(0, 0), amount<<18) // with what had been made before
			before := w.sent(0, 0)
			w.wantSent(0, 0, before, amount<<20)
			now := w.sent(0, 0)
			if mean := (now.bytes - before.bytes) / (now.packets - before.packets); mean > c.most+ethernet {
				t.Errorf("from %+v to %+v: %d bytes a packet", before, now, mean)
			}
			w.wantDone(cmd, out, stderr, 2)
		})
	}
}
