package nic

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/internal/platform/addrs"
)

// many makes n interfaces name0, name1, ... with an address of each of the networks format describes.
func many(n int, name string, physical bool, formats ...string) (list []addrs.Interface) {
	for k := range n {
		i := iface(fmt.Sprintf("%s%d", name, k), true, 1500)
		i.Physical = physical
		for _, f := range formats {
			i.Prefixes = append(i.Prefixes, netip.MustParsePrefix(fmt.Sprintf(f, k)))
		}
		list = append(list, i)
	}
	return list
}

// published is what Select makes of ifs after all that Check asks of it.
func published(t *testing.T, spec string, ifs []addrs.Interface) []netip.Addr {
	t.Helper()
	got, err := Select(spec, ifs)
	if err != nil {
		t.Fatal(err)
	}
	if err := (Endpoint{1, nil, Describe(got, ifs, 4000, 6000)}).Check(); err != nil {
		t.Fatal(err)
	}
	return got
}

func count(list []netip.Addr, f Family) (n int) {
	for _, a := range list {
		if FamilyOf(a) == f {
			n++
		}
	}
	return n
}

// TestManyAddresses: a machine may have more than an Endpoint holds, of either family or both.
func TestManyAddresses(t *testing.T) {
	for _, c := range []struct {
		four, six    int
		want4, want6 int
	}{
		{32, 0, 32, 0},
		{33, 0, 32, 0},
		{0, 200, 0, 32},
		{200, 1, 31, 1},
		{3, 200, 3, 29},
		{40, 40, 16, 16},
		{20, 12, 20, 12},
	} {
		ifs := append(many(c.four, "a", true, "10.%d.0.1/16"), many(c.six, "b", true, "fd00:%x::1/64")...)
		got := published(t, "", ifs)
		if n, m := count(got, IPv4), count(got, IPv6); n != c.want4 || m != c.want6 {
			t.Errorf("%d of IPv4 and %d of IPv6: %d and %d are left, want %d and %d", c.four, c.six, n, m, c.want4, c.want6)
		}
	}
}

// TestBestAddresses: physical networks stay, then others, then what leads to containers; one address of each
// interface before the second of any. The order is that of Select.
func TestBestAddresses(t *testing.T) {
	secondary := iface("eth0", true, 1500)
	secondary.Physical = true
	for k := range 100 {
		secondary.Prefixes = append(secondary.Prefixes, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, 0, byte(k + 1)}), 16))
	}
	tunnels := many(10, "tun", false, "10.%d.7.7/30")
	for k := range tunnels {
		tunnels[k].MTU = 9000
	}
	fast := many(3, "ib", true, "192.168.%d.1/24")
	fast[2].MTU = 4000
	docker := iface("docker0", true, 9000, "172.17.0.1/16")
	ifs := slices.Concat([]addrs.Interface{iface("lo", true, 65536, "127.0.0.1/8"), docker}, tunnels, []addrs.Interface{secondary}, fast)

	got := texts(published(t, "*", ifs))
	want := "192.168.2.1 10.1.0.1"
	for k := 2; k <= 29; k++ {
		want += fmt.Sprintf(" 10.1.0.%d", k)
	}
	want += " 192.168.0.1 192.168.1.1"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}

	secondary.Prefixes = secondary.Prefixes[:25]
	ifs = slices.Concat([]addrs.Interface{iface("lo", true, 65536, "127.0.0.1/8"), docker}, tunnels, []addrs.Interface{secondary}, fast)
	got = " " + texts(published(t, "*", ifs)) + " "
	for _, there := range []string{"10.1.0.25", "192.168.1.1", "10.0.7.7", "10.1.7.7", "10.2.7.7", "10.3.7.7"} {
		if !strings.Contains(got, " "+there+" ") {
			t.Errorf("%s is missing: %s", there, got)
		}
	}
	for _, gone := range []string{"10.4.7.7", "172.17.0.1", "127.0.0.1"} {
		if strings.Contains(got, " "+gone+" ") {
			t.Errorf("%s should not be there: %s", gone, got)
		}
	}
}

// TestMachinesKeepTheSameNetworks: whatever order the system lists its interfaces in, and whatever it calls them.
func TestMachinesKeepTheSameNetworks(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	dice := rand.New(rand.NewPCG(seed, 0))
	networks := func(ifs []addrs.Interface) (list []netip.Prefix) {
		for _, a := range Describe(published(t, "", ifs), ifs, 1, 1) {
			list = append(list, a.Prefix())
		}
		slices.SortFunc(list, netip.Prefix.Compare)
		return list
	}
	one := many(100, "vlan", false, "10.%d.0.1/16", "fd00:%x::1/64")
	two := many(100, "net", false, "10.%d.3.9/16", "fd00:%x::9/64")
	dice.Shuffle(len(two), func(i, j int) { two[i], two[j] = two[j], two[i] })
	if a, b := networks(one), networks(two); !slices.Equal(a, b) {
		t.Errorf("one has %v, the other %v", a, b)
	}
}
