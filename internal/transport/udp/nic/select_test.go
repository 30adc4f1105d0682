package nic

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/golci/golci/internal/platform/addrs"
)

func iface(name string, up bool, mtu int, prefixes ...string) addrs.Interface {
	i := addrs.Interface{Name: name, Up: up, Loopback: name == "lo", MTU: mtu}
	for _, p := range prefixes {
		i.Prefixes = append(i.Prefixes, netip.MustParsePrefix(p))
	}
	return i
}

var machine = []addrs.Interface{
	iface("lo", true, 65536, "127.0.0.1/8", "::1/128"),
	iface("eth0", true, 1500, "192.168.1.5/24", "192.168.1.6/24", "fe80::1/64", "fd00:1::5/64", "fd00:1::6/64"),
	iface("eth1", true, 9000, "10.1.2.3/16", "fd00:2::5/64"),
	iface("eth2", false, 9000, "10.2.2.3/16"),
	iface("docker0", true, 1500, "172.17.0.1/16"),
	iface("ib0", true, 4092, "10.1.77.1/16"),
	iface("tun0", true, 1400),
}

func texts[T interface{ String() string }](list []T) string {
	var s []string
	for _, v := range list {
		s = append(s, v.String())
	}
	return strings.Join(s, " ")
}

const automatic = "10.1.2.3 10.1.77.1 192.168.1.5 fd00:2::5 fd00:1::5"

func TestSelect(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"", automatic},
		{" ", automatic},
		{"auto", automatic},
		{"auto,docker0", "10.1.2.3 10.1.77.1 192.168.1.5 172.17.0.1 fd00:2::5 fd00:1::5"},
		{"!eth1", "10.1.77.1 192.168.1.5 fd00:1::5"},
		{"auto, ! eth1", "10.1.77.1 192.168.1.5 fd00:1::5"},
		{"!nosuch", automatic},
		{"eth0", "192.168.1.5 192.168.1.6 fd00:1::5 fd00:1::6"},
		{"eth*", "10.1.2.3 192.168.1.5 192.168.1.6 fd00:2::5 fd00:1::5 fd00:1::6"},
		{"eth*,!10.*", "192.168.1.5 192.168.1.6 fd00:2::5 fd00:1::5 fd00:1::6"},
		{"!::/0", "10.1.2.3 10.1.77.1 192.168.1.5"},
		{"!0.0.0.0/0", "fd00:2::5 fd00:1::5"},
		{"10.1.0.0/16", "10.1.2.3 10.1.77.1"},
		{"10.1.99.99/16", "10.1.2.3 10.1.77.1"},
		{"fd00::/8", "fd00:2::5 fd00:1::5 fd00:1::6"},
		{"192.168.*", "192.168.1.5 192.168.1.6"},
		{"192.168.1.6", "192.168.1.6"},
		{"192.168.1.?,192.168.1.6,eth1,eth1", "10.1.2.3 192.168.1.5 192.168.1.6 fd00:2::5"},
		{"fd00:1:*", "fd00:1::5 fd00:1::6"},
		{"FD00:1:0::5", "fd00:1::5"},
		{"fe80::/10", "fe80::1%eth0"},
		{"fe80::1", "fe80::1%eth0"},
		{"fe80::1%eth0", "fe80::1%eth0"},
		{"lo", "127.0.0.1 ::1"},
		{"127.*", "127.0.0.1"},
	} {
		got, err := Select(c.spec, machine)
		if err != nil || texts(got) != c.want {
			t.Errorf("%q: %s, %v; want %s", c.spec, texts(got), err, c.want)
		}
	}
}

func TestSelectRefuses(t *testing.T) {
	for _, c := range []struct{ spec, says string }{
		{"eth9", `nothing here is "eth9"`},
		{"eth0,eth9", `"eth9"`},
		{"eth2", `"eth2" is on eth2, which is down`},
		{"10.2.*", "down"},
		{"tun0", `nothing here is "tun0"`},
		{"10.9.0.0/16", `"10.9.0.0/16"`},
		{"10.1.0.0/33", "not a network"},
		{"10.1.2", "not an address"},
		{"1.2.3.4.5", "not an address"},
		{"fd00::zz", "not an address"},
		{"eth[", "not a pattern"},
		{"eth0,,eth1", "empty item"},
		{"!", "empty item"},
		{"!auto", "nothing in particular"},
		{"eth1,!eth*", "leaves no address"},
		{"!*", "leaves no address"},
	} {
		got, err := Select(c.spec, machine)
		if !errors.Is(err, errSpec) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %s, %v; should say %q", c.spec, texts(got), err, c.says)
		}
	}
	_, err := Select("eth9", machine)
	for _, there := range []string{"eth0 192.168.1.5/24", "eth2 (down) 10.2.2.3/16", "tun0", "lo"} {
		if !strings.Contains(err.Error(), there) {
			t.Errorf("%v\ndoes not list %q", err, there)
		}
	}
	if _, err := Select("", nil); !errors.Is(err, errSpec) || !strings.Contains(err.Error(), "no interface") {
		t.Error(err)
	}
}

// TestLoopbackIsLast: it is taken only where there is nothing else.
func TestLoopbackIsLast(t *testing.T) {
	alone := []addrs.Interface{machine[0], machine[3], machine[4], iface("eth5", true, 1500, "169.254.3.3/16", "fe80::3/64")}
	for _, spec := range []string{"", "auto", "!eth1", "auto,!eth1"} {
		if got, err := Select(spec, alone); err != nil || texts(got) != "127.0.0.1 ::1" {
			t.Errorf("%q: %s, %v", spec, texts(got), err)
		}
	}
	if got, err := Select("!::/0", alone); err != nil || texts(got) != "127.0.0.1" {
		t.Errorf("%s, %v", texts(got), err)
	}
	if got, err := Select("169.254.*", alone); err != nil || texts(got) != "169.254.3.3" {
		t.Errorf("%s, %v", texts(got), err)
	}
}

func TestDescribe(t *testing.T) {
	chosen, err := Select("eth1,fe80::/10", machine)
	if err != nil {
		t.Fatal(err)
	}
	got := Describe(append(chosen, netip.MustParseAddr("1.2.3.4")), machine, 4000, 6000)
	want := []Address{address("10.1.2.3:4000", 16, 9000), address("[fd00:2::5]:6000", 64, 9000), address("[fe80::1%eth0]:6000", 64, 1500)}
	if len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%+v", got)
	}
	if got := Describe(chosen, machine, 4000, 0); len(got) != 1 || got[0] != want[0] {
		t.Errorf("without IPv6: %+v", got)
	}
	if err := (Endpoint{1, nil, got}).Check(); err != nil {
		t.Error(err)
	}
}

// TestThisMachine: what the system lists can be chosen from and bound to.
func TestThisMachine(t *testing.T) {
	ifs, err := addrs.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Select("", ifs)
	if err != nil {
		t.Fatal(err)
	}
	if list := Describe(got, ifs, 1, 1); len(list) != len(got) {
		t.Errorf("%v are described as %+v", got, list)
	}
	for _, a := range got {
		if _, err := Select(a.String(), ifs); err != nil {
			t.Errorf("%v by itself: %v", a, err)
		}
	}
}

// FuzzSelect: no setting makes it panic, and what it gives is of this machine.
func FuzzSelect(f *testing.F) {
	for _, s := range []string{"", "auto,!eth*", "10.1.0.0/16,fd00::/8", "[a-", "fe80::1%eth0", "!!", "*:*,*.*"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		got, err := Select(spec, machine)
		if (err == nil) != (len(got) > 0) || err != nil && !errors.Is(err, errSpec) {
			t.Fatalf("%q: %v, %v", spec, got, err)
		}
		if list := Describe(got, machine, 1, 1); len(list) != len(got) {
			t.Fatalf("%q: %v", spec, got)
		}
	})
}
