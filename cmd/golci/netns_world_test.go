//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// world is a number of machines: network namespaces. Cables join them to one or more switches: bridges in a namespace
// of their own.
type world struct {
	t      *testing.T
	hosts  []string
	sw     string   // the namespace of the switches
	nets   []string // beginnings of the addresses, by switch
	family string   // -4 or -6
	head   string   // the head's address
}

// plan says what world to make.
type plan struct {
	hosts int
	nets  int // switches; 0 means one
	v6    bool
	mtu   int // of every interface; 0 means 1500
	// routed has a router in place of the first switch: each machine is in a network of its own. IPv4 only.
	routed bool
}

// worlds counts them: the kernel forgets names and addresses slowly.
var worlds int

// newWorld makes a world that ends with the test, which is skipped where that cannot be.
func newWorld(t *testing.T, p plan) *world {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces can only be made by root")
	}
	pid, k := os.Getpid(), worlds
	worlds++
	w := &world{t: t, sw: fmt.Sprintf("golci-%d-w%d", pid, k), family: "-4"}
	w.netns(w.sw)
	w.in(w.sw, "link", "set", "lo", "up")
	if p.routed {
		w.route(p)
		return w
	}
	for n := range max(p.nets, 1) {
		if p.v6 {
			w.family = "-6"
			w.nets = append(w.nets, fmt.Sprintf("fd%02x:%x:%x:%d::", pid%200, pid, k, n))
		} else {
			w.nets = append(w.nets, fmt.Sprintf("10.%d.%d.", 100+pid%100, (pid/100*7+k*4+n)%256))
		}
		w.in(w.sw, "link", "add", bridge(n), "type", "bridge")
		w.in(w.sw, "link", "set", bridge(n), "up")
	}
	for i := range p.hosts {
		name := fmt.Sprintf("golci-%d-w%d-%d", pid, k, i)
		w.netns(name)
		w.in(name, "link", "set", "lo", "up")
		w.hosts = append(w.hosts, name)
		for n := range w.nets {
			w.in(name, "link", "add", face(n), "type", "veth", "peer", "name", port(i, n), "netns", w.sw)
			w.plug(port(i, n), n, p.mtu)
			w.address(name, face(n), n, i+1, p.mtu)
		}
	}
	head := fmt.Sprintf("gw%d-%d", pid%100000, k)
	ip(t, "link", "add", head, "type", "veth", "peer", "name", "head", "netns", w.sw)
	w.plug("head", 0, p.mtu)
	w.address("", head, 0, 254, p.mtu)
	w.head = w.nets[0] + "254"
	return w
}

// route makes the machines of a world with a router.
func (w *world) route(p plan) {
	w.t.Helper()
	pid, k := os.Getpid(), worlds
	w.exec(w.sw, "sysctl", "-qw", "net.ipv4.ip_forward=1")
	cable := func(name, face, port string, number int) (net string) {
		net = fmt.Sprintf("10.%d.%d.", 100+pid%100, (pid/100*7+k*8+number)%256)
		w.in(name, "link", "add", face, "type", "veth", "peer", "name", port, "netns", w.sw)
		w.in(name, "addr", "add", net+"1/24", "dev", face)
		w.in(w.sw, "addr", "add", net+"2/24", "dev", port)
		w.in(name, "link", "set", face, "up")
		w.in(w.sw, "link", "set", port, "up")
		return net
	}
	head := fmt.Sprintf("gw%d-%d", pid%100000, k)
	gate := cable("", head, "head", 7)
	for i := range p.hosts {
		name := fmt.Sprintf("golci-%d-w%d-%d", pid, k, i)
		w.netns(name)
		w.in(name, "link", "set", "lo", "up")
		net := cable(name, face(0), port(i, 0), i)
		w.in(name, "route", "add", "default", "via", net+"2")
		w.in("", "route", "add", net+"0/24", "via", gate+"2")
		w.hosts = append(w.hosts, name)
	}
}

// exec runs a command in a namespace.
func (w *world) exec(name string, args ...string) {
	w.t.Helper()
	if out, err := exec.Command("ip", append([]string{"netns", "exec", name}, args...)...).CombinedOutput(); err != nil {
		w.t.Skipf("%v in %s: %v: %s", args, name, err, out)
	}
}

func face(net int) string       { return fmt.Sprintf("n%d", net) }
func port(host, net int) string { return fmt.Sprintf("h%dn%d", host, net) }
func bridge(net int) string     { return fmt.Sprintf("switch%d", net) }

func (w *world) netns(name string) {
	w.t.Helper()
	ip(w.t, "netns", "add", name)
	w.t.Cleanup(func() { // cables and switches go with it
		if out, err := exec.Command("ip", "netns", "del", name).CombinedOutput(); err != nil {
			w.t.Errorf("ip netns del %s: %v: %s", name, err, out)
		}
	})
}

// in has ip work in a namespace, "" for this one.
func (w *world) in(name string, args ...string) {
	w.t.Helper()
	if name != "" {
		args = append([]string{"-n", name}, args...)
	}
	ip(w.t, args...)
}

// must is in for what a world that has been made can do.
func (w *world) must(name string, args ...string) []byte {
	w.t.Helper()
	out, err := exec.Command("ip", append([]string{"-n", name}, args...)...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("ip %v in %s: %v: %s", args, name, err, out)
	}
	return out
}

func (w *world) plug(port string, net, mtu int) {
	w.t.Helper()
	w.in(w.sw, "link", "set", port, "mtu", fmt.Sprint(size(mtu)), "master", bridge(net))
	w.in(w.sw, "link", "set", port, "up")
}

func (w *world) address(name, face string, net, number, mtu int) {
	w.t.Helper()
	w.in(name, "link", "set", face, "mtu", fmt.Sprint(size(mtu)))
	if w.family == "-6" {
		w.in(name, "addr", "add", fmt.Sprintf("%s%x/64", w.nets[net], number), "dev", face, "nodad")
	} else {
		w.in(name, "addr", "add", fmt.Sprintf("%s%d/24", w.nets[net], number), "dev", face)
	}
	w.in(name, "link", "set", face, "up")
}

func size(mtu int) int {
	if mtu == 0 {
		return 1500
	}
	return mtu
}

// cut has the switch lose whatever a machine sends there, or is sent; the machine does not notice.
func (w *world) cut(host, net int) {
	w.t.Helper()
	w.must(w.sw, "link", "set", port(host, net), "nomaster")
}

// unplug does the same, and the machine notices.
func (w *world) unplug(host, net int) {
	w.t.Helper()
	w.must(w.sw, "link", "set", port(host, net), "down")
}

// heal undoes cut and unplug.
func (w *world) heal(host, net int) {
	w.t.Helper()
	w.must(w.sw, "link", "set", port(host, net), "master", bridge(net))
	w.must(w.sw, "link", "set", port(host, net), "up")
}

// traffic is what a machine has sent through a network.
type traffic struct{ bytes, packets int }

func (w *world) sent(host, net int) traffic {
	w.t.Helper()
	out := w.must(w.sw, "-s", "-j", "link", "show", "dev", port(host, net))
	var links []struct {
		Stats struct {
			Rx counters `json:"rx"`
		} `json:"stats64"`
	}
	if err := json.Unmarshal(out, &links); err != nil || len(links) != 1 {
		w.t.Fatalf("%v: %s", err, out)
	}
	return traffic{links[0].Stats.Rx.Bytes, links[0].Stats.Rx.Packets}
}

type counters struct{ Bytes, Packets int }

// slots names all machines with so many ranks each.
func (w *world) slots(each int) string {
	var list []string
	for _, h := range w.hosts {
		list = append(list, fmt.Sprintf("%s:%d", h, each))
	}
	return strings.Join(list, ",")
}

// wantDeserted waits until no process is left in any machine.
func (w *world) wantDeserted() {
	w.t.Helper()
	for _, h := range w.hosts {
		var pids string
		if !eventually(func() bool {
			out, err := exec.Command("ip", "netns", "pids", h).Output()
			pids = strings.Join(strings.Fields(string(out)), " ")
			return err == nil && pids == ""
		}) {
			w.t.Errorf("left in %s: %s", h, pids)
		}
	}
}

// sockets lists what a machine's kernel has of one kind: "udp", "tcp" or "unix", lines of /proc/net.
func (w *world) sockets(host int, kind string) (lines []string) {
	w.t.Helper()
	out, err := exec.Command("ip", "netns", "exec", w.hosts[host], "cat", filepath.Join("/proc/net", kind)).Output()
	if err != nil {
		w.t.Fatalf("/proc/net/%s of %s: %v", kind, w.hosts[host], err)
	}
	for i, l := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if i > 0 { // below the titles
			lines = append(lines, l)
		}
	}
	return lines
}

// wantNoSockets waits until the machines' kernels have no sockets that a process could have left open. A TCP connection
// that is neither established nor listening belongs to no process.
func (w *world) wantNoSockets() {
	w.t.Helper()
	for i := range w.hosts {
		for _, kind := range []string{"udp", "udp6", "tcp", "tcp6", "unix"} {
			var left []string
			if !eventually(func() bool {
				left = nil
				for _, l := range w.sockets(i, kind) {
					f := strings.Fields(l)
					if strings.HasPrefix(kind, "tcp") && f[3] != "01" && f[3] != "0A" {
						continue
					}
					left = append(left, l)
				}
				return len(left) == 0
			}) {
				w.t.Errorf("left in %s: %s %q", w.hosts[i], kind, left)
			}
		}
	}
}
