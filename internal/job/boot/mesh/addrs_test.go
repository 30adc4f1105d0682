package mesh

import (
	"errors"
	"net/netip"
	"slices"
	"testing"
)

func prefixes(texts ...string) (out []netip.Prefix) {
	for _, s := range texts {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

func TestReachable(t *testing.T) {
	many := make([]netip.Prefix, 3*maxAddrs)
	for i := range many {
		many[i] = netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), 8)
	}
	for _, c := range []struct {
		host []netip.Prefix
		want []netip.Addr
	}{
		{
			prefixes("127.0.0.1/8", "::1/128", "fe80::1/64", "fd00::5/64", "10.1.2.3/24", "169.254.3.4/16"),
			[]netip.Addr{netip.MustParseAddr("10.1.2.3"), netip.MustParseAddr("fd00::5")},
		},
		{prefixes("127.0.0.1/8", "fe80::1/64"), []netip.Addr{loopback}},
		{nil, nil},
		{many, nil},
	} {
		got := reachableAt(c.host)
		if len(c.host) > maxAddrs {
			if len(got) != maxAddrs {
				t.Errorf("%d addresses of %d", len(got), len(c.host))
			}
		} else if !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.host, got, c.want)
		}
	}
}

func TestByDistance(t *testing.T) {
	own, far, near := netip.MustParseAddrPort("172.17.0.1:5"), netip.MustParseAddrPort("192.168.7.7:5"), netip.MustParseAddrPort("10.1.2.9:5")
	got := byDistance([]netip.AddrPort{own, far, near}, prefixes("127.0.0.1/8", "172.17.0.1/16", "10.1.2.3/24"))
	if want := []netip.AddrPort{near, far, own}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestHost: this machine can be reached at something.
func TestHost(t *testing.T) {
	n, err := Listen(Config{Rank: 0, Size: 2, Key: testKey})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if len(n.Addrs()) == 0 {
		t.Error("no address")
	}
	if _, err := Listen(Config{Rank: 0, Size: 2, Key: testKey}, netip.MustParseAddr("240.0.0.1")); err == nil {
		t.Error("listening at an address that is not this machine's")
	}
}

func TestCheckAddrs(t *testing.T) {
	good := []netip.AddrPort{netip.MustParseAddrPort("10.1.2.3:7"), netip.MustParseAddrPort("[fd00::1]:65535")}
	for _, addrs := range [][]netip.AddrPort{good, {}, nil} {
		if err := CheckAddrs(addrs); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range [][]netip.AddrPort{{{}}, {netip.MustParseAddrPort("[fe80::1%eth0]:5")}, make([]netip.AddrPort, maxAddrs+1)} {
		if err := CheckAddrs(bad); !errors.Is(err, errAddrs) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
