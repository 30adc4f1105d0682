package report

import (
	"testing"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/test/settingstest"
	"github.com/golci/golci/internal/transport/mixed"
	"github.com/golci/golci/rank/internal/terms"
	"github.com/golci/golci/rank/internal/wiring"
)

// TestDatagramsOf: datagrams are found alone and beside rings, and not where there are none.
func TestDatagramsOf(t *testing.T) {
	jobs, err := boot.Local(2)
	if err != nil {
		t.Fatal(err)
	}
	far, err := wiring.JoinRanks(&terms.Options{Values: settingstest.Parse("GOLCI_CONDUIT", "udp")}, jobs)
	if err != nil {
		t.Fatal(err)
	}
	near, err := wiring.JoinRanks(&terms.Options{Values: settingstest.Parse("GOLCI_CONDUIT", "local")}, jobs)
	if err != nil {
		t.Fatal(err)
	}
	if datagramsOf(near[0]) != nil || datagramsOf(far[0]) == nil {
		t.Errorf("rings have %p, datagrams %p", datagramsOf(near[0]), datagramsOf(far[0]))
	}
	for i := range jobs {
		c, err := mixed.New(near[i], far[i], func(peer int) bool { return peer == i })
		if err != nil {
			t.Fatal(err)
		}
		if u := datagramsOf(c); u == nil || u != far[i] {
			t.Errorf("rank %d: both together have %p, not %p", i, u, far[i])
		}
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
