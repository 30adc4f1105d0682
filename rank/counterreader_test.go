package rank

import (
	"testing"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/observe/tool"
	"github.com/golci/golci/internal/transport/mixed"
	"github.com/golci/golci/rank/internal/wiring"
)

// TestDatagramsOf: datagrams are found alone and beside rings, and not where there are none.
func TestDatagramsOf(t *testing.T) {
	jobs, err := boot.Local(2)
	if err != nil {
		t.Fatal(err)
	}
	far, err := wiring.JoinRanks(&mustOptions("GOLCI_CONDUIT", "udp").terms, jobs)
	if err != nil {
		t.Fatal(err)
	}
	near, err := wiring.JoinRanks(&mustOptions("GOLCI_CONDUIT", "local").terms, jobs)
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

// TestCountersAfterTheEnd: they are those of the end, whatever the rank used is gone.
func TestCountersAfterTheEnd(t *testing.T) {
	var last *Rank
	must(t, 2, Config{}, func(r *Rank) error {
		v := r.Counters()
		if v[tool.Workers] == 0 || v[tool.CreditsLent] == 0 || v[tool.CreditsLent] != v[tool.CreditsBorrowed] {
			t.Errorf("rank %d: %v", r.Rank(), v)
		}
		if r.Rank() == 0 {
			last = r
		}
		return nil
	})
	if v := last.Counters(); v[tool.Workers] == 0 || v[tool.CreditsLent] == 0 || v[tool.ThreadsAlive] != 0 {
		t.Errorf("after the end: %v", v)
	}
}
