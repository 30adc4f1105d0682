package addrs

import (
	"net"
	"net/netip"
	"slices"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestList(t *testing.T) {
	var host []netip.Prefix
	for _, s := range []string{
		"127.0.0.1/8", "::1/128", "fe80::1/64", "fd00::5/64", "10.1.2.3/24", "169.254.3.4/16", "0.0.0.0/0", "ff02::1/8", "224.0.0.1/4",
	} {
		host = append(host, netip.MustParsePrefix(s))
	}
	for loopback, want := range map[bool][]string{
		false: {"10.1.2.3", "fd00::5"},
		true:  {"127.0.0.1", "10.1.2.3", "::1", "fd00::5"},
	} {
		var got []string
		for _, a := range List(host, loopback) {
			got = append(got, a.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("loopback %v: got %v, want %v", loopback, got, want)
		}
	}
	if Usable(netip.Addr{}, true) {
		t.Error("no address is usable")
	}
}

// TestMachine: this machine has an address that its own processes can use, and its loopback interface is known as one.
func TestMachine(t *testing.T) {
	ifs, err := Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	host, err := Up()
	if err != nil || len(List(host, true)) == 0 {
		t.Errorf("no usable address in %v: %v", ifs, err)
	}
	for _, i := range ifs {
		for _, p := range i.Prefixes {
			if p.Addr().IsLoopback() && !i.Loopback && p.Bits() < p.Addr().BitLen() {
				t.Errorf("%s has %v and is no loopback interface", i.Name, p)
			}
		}
	}
}

// TestUp: the addresses of an interface that is down are left out.
func TestUp(t *testing.T) {
	a, b, c := netip.MustParsePrefix("10.1.2.3/24"), netip.MustParsePrefix("10.2.2.3/24"), netip.MustParsePrefix("fd00::5/64")
	got := prefixesUp([]Interface{{Up: true, Prefixes: []netip.Prefix{a, c}}, {Prefixes: []netip.Prefix{b}}, {Up: true}})
	if want := []netip.Prefix{a, c}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestPrefix: an address in the form of IPv4 within IPv6 is one of IPv4, and a mask with gaps has no prefix.
func TestPrefix(t *testing.T) {
	got, ok := prefixOf(&net.IPNet{IP: net.ParseIP("10.1.2.3"), Mask: net.CIDRMask(24, 32)})
	if want := netip.MustParsePrefix("10.1.2.3/24"); !ok || got != want {
		t.Errorf("got %v, %v, want %v", got, ok, want)
	}
	for _, bad := range []net.Addr{
		&net.TCPAddr{}, &net.IPNet{}, &net.IPNet{IP: net.ParseIP("10.1.2.3"), Mask: net.IPv4Mask(255, 0, 255, 0)},
	} {
		if got, ok := prefixOf(bad); ok {
			t.Errorf("%#v is %v", bad, got)
		}
	}
}
