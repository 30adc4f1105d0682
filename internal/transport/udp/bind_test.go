package udp

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/golci/golci/internal/transport/udp/nic"
)

// TestBindAddr: with one address of a family the socket is bound there. With several it is bound to all, and takes in
// what was sent to these.
func TestBindAddr(t *testing.T) {
	a, b := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.1.1")
	c, d := netip.MustParseAddr("fd00::1"), netip.MustParseAddr("fd00::2")
	for _, x := range []struct {
		chosen []netip.Addr
		f      nic.Family
		at     netip.Addr
		only   []netip.Addr
		any    bool
	}{
		{chosen: []netip.Addr{a, c, d}, f: nic.IPv4, at: a, any: true},
		{chosen: []netip.Addr{a, c, d}, f: nic.IPv6, at: netip.IPv6Unspecified(), only: []netip.Addr{c, d}, any: true},
		{chosen: []netip.Addr{a, c, b}, f: nic.IPv4, at: netip.IPv4Unspecified(), only: []netip.Addr{a, b}, any: true},
		{chosen: []netip.Addr{a, b}, f: nic.IPv6},
	} {
		if at, only, any := bindAddr(x.chosen, x.f); at != x.at || !slices.Equal(only, x.only) || any != x.any {
			t.Errorf("%v: %v, %v, %v; want %v, %v, %v", x.chosen, at, only, any, x.at, x.only, x.any)
		}
	}
}
