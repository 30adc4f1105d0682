package ending

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/test/settingstest"
)

// TestPlaneAddrs: the plane listens at the addresses that GOLCI_UDP_INTERFACES names, and at all where it names none.
// Within a node there is no such plane, and no interface is asked for.
func TestPlaneAddrs(t *testing.T) {
	lo := netip.MustParseAddr("127.0.0.1")
	for _, c := range []struct {
		spec  string
		local []int
		want  []netip.Addr
		fails bool
	}{
		{spec: "auto", local: []int{0}},
		{spec: "127.0.0.1", local: []int{0}, want: []netip.Addr{lo}},
		{spec: "127.0.0.1", local: []int{0, 1}},
		{spec: "no-such-interface", local: []int{0}, fails: true},
		{spec: "no-such-interface", local: []int{0, 1}},
	} {
		t.Setenv("GOLCI_UDP_INTERFACES", c.spec)
		got, err := planeAddrs(&boot.Job{Size: 2, LocalRanks: c.local}, settingstest.Parse())
		if !slices.Equal(got, c.want) || (err != nil) != c.fails {
			t.Errorf("%q on a node of %d ranks: %v, %v; want %v", c.spec, len(c.local), got, err, c.want)
		}
	}
}
