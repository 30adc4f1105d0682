package nic

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

func endpoint(addrs ...Address) Endpoint { return Endpoint{1, nil, addrs} }

var (
	only4 = endpoint(address("10.0.0.1:1", 8, 1500))
	only6 = endpoint(address("[fd00::1]:1", 64, 1500))
	both  = endpoint(only4.Addrs[0], only6.Addrs[0])
	none  = endpoint()
)

func TestAgree(t *testing.T) {
	for _, c := range []struct {
		all  []Endpoint
		want Family
		says []string
	}{
		{nil, IPv4, nil},
		{[]Endpoint{both, both}, IPv4, nil},
		{[]Endpoint{both, only4, both}, IPv4, nil},
		{[]Endpoint{both, only6}, IPv6, nil},
		{[]Endpoint{only6}, IPv6, nil},
		{[]Endpoint{only4, both, only6, only6}, 0, []string{"no IPv4 address at rank 2, 3;", "no IPv6 address at rank 0"}},
		{[]Endpoint{both, none}, 0, []string{"IPv4 address at rank 1;", "IPv6 address at rank 1"}},
		{make([]Endpoint, 10), 0, []string{"rank 0, 1, 2, 3, 4, 5, 6, 7 and 2 more"}},
	} {
		got, err := Agree(c.all)
		if got != c.want || (err == nil) != (c.says == nil) || err != nil && !errors.Is(err, errNoPath) {
			t.Errorf("%v: %v, %v", c.all, got, err)
		}
		for _, s := range c.says {
			if !strings.Contains(fmt.Sprint(err), s) {
				t.Errorf("%v does not say %q", err, s)
			}
		}
	}
}

// way writes a path as one string.
func way(p Path) string {
	from := "-"
	if p.Local.IsValid() {
		from = p.Local.Addr().String()
	}
	return fmt.Sprintf("%s>%v/%d", from, p.Remote.Addr(), p.Payload)
}

func TestPaths(t *testing.T) {
	kernel := func(p netip.AddrPort) (int, error) {
		switch {
		case p.Addr().IsLoopback():
			return 65507, nil
		case strings.HasPrefix(p.String(), "10.9."):
			return 0, errors.New("no route to host")
		}
		return 8972, nil
	}
	for _, c := range []struct {
		name         string
		mine, theirs []Address
		family       Family
		want         string
	}{
		{
			"one network, small MTU at the peer",
			[]Address{address("10.1.0.1:1", 16, 9000)},
			[]Address{address("10.1.0.2:1", 16, 1500)},
			IPv4, "10.1.0.1>10.1.0.2/1472",
		},
		{
			"MTU of the peer not known",
			[]Address{address("10.1.0.1:1", 16, 9000)},
			[]Address{address("10.1.0.2:1", 16, 0)},
			IPv4, "10.1.0.1>10.1.0.2/8972",
		},
		{
			"shared network first, routed after, no route left out",
			[]Address{address("10.1.0.1:1", 16, 9000), address("10.2.0.1:1", 16, 9000)},
			[]Address{address("10.3.0.2:1", 16, 9000), address("10.9.0.2:1", 16, 9000), address("10.2.0.2:1", 16, 9000), address("10.1.0.2:1", 16, 9000)},
			IPv4, "10.2.0.1>10.2.0.2/8972 10.1.0.1>10.1.0.2/8972 ->10.3.0.2/8972",
		},
		{
			"two of each in one network are two pairs",
			[]Address{address("10.1.0.1:1", 16, 9000), address("10.1.0.2:1", 16, 9000)},
			[]Address{address("10.1.0.3:1", 16, 9000), address("10.1.0.4:1", 16, 9000)},
			IPv4, "10.1.0.1>10.1.0.3/8972 10.1.0.2>10.1.0.4/8972",
		},
		{
			"the wider network of one is not the other's",
			[]Address{address("10.1.0.1:1", 8, 9000)},
			[]Address{address("10.2.0.1:1", 16, 9000)},
			IPv4, "->10.2.0.1/8972",
		},
		{
			"the other family does not count",
			[]Address{address("10.1.0.1:1", 16, 9000), address("[fd00::1]:1", 64, 9000)},
			[]Address{address("10.1.0.2:1", 16, 9000), address("[fd00::2]:1", 64, 1500)},
			IPv6, "fd00::1>fd00::2/1452",
		},
		{
			"link-local goes by our interface",
			[]Address{address("[fe80::1%eth0]:1", 64, 9000)},
			[]Address{address("[fe80::2]:1", 64, 9000)},
			IPv6, "fe80::1%eth0>fe80::2%eth0/8952",
		},
		{
			"one machine, whose kernel does not use the interface",
			[]Address{address("10.1.0.1:1", 16, 1500)},
			[]Address{address("10.1.0.1:2", 16, 1500)},
			IPv4, "10.1.0.1>10.1.0.1/8972",
		},
		{
			"loopback of one machine",
			[]Address{address("127.0.0.1:1", 8, 65536)},
			[]Address{address("127.0.0.1:2", 8, 65536)},
			IPv4, "127.0.0.1>127.0.0.1/65507",
		},
		{
			"somebody else's loopback comes last",
			[]Address{address("10.1.0.1:1", 16, 9000)},
			[]Address{address("127.0.0.1:1", 8, 65536), address("10.3.0.2:1", 16, 9000)},
			IPv4, "->10.3.0.2/8972 ->127.0.0.1/65507",
		},
	} {
		got, err := Paths(endpoint(c.mine...), endpoint(c.theirs...), c.family, kernel)
		var s []string
		for _, p := range got {
			s = append(s, way(p))
			if p.Near != p.Local.IsValid() || p.Remote.Port() == 0 {
				t.Errorf("%s: %+v", c.name, p)
			}
		}
		if err != nil || strings.Join(s, " ") != c.want {
			t.Errorf("%s: %s, %v; want %s", c.name, s, err, c.want)
		}
	}
	for _, c := range []struct {
		mine, theirs Endpoint
		family       Family
		says         string
	}{
		{only4, only6, IPv4, "by IPv4 from [10.0.0.1:1] to [[fd00::1]:1]"},
		{only4, endpoint(address("10.9.0.2:1", 8, 1500)), IPv4, "no route to host"},
		{only6, endpoint(address("[fe80::2]:1", 64, 9000)), IPv6, "fe80::2"},
	} {
		if got, err := Paths(c.mine, c.theirs, c.family, kernel); !errors.Is(err, errNoPath) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, %v; should say %q", got, err, c.says)
		}
	}
}
