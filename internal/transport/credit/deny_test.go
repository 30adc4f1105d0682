package credit

import "testing"

// TestDeniedWhileRevokesFly: while credits are on their way back a need is not met with the few that the bank has.
func TestDeniedWhileRevokesFly(t *testing.T) {
	g := ledger(t, lentOut(), 4)
	if n := g.Need(3, 2); n != 0 || len(g.flights) != 2 {
		t.Fatalf("granted %d, %d revokes fly, want 0 and 2", n, len(g.flights))
	}
	g.peers[1].loan, g.bank = 9, 1 // one credit has come back
	if n := g.Need(3, 5); n != 0 || g.bank != 1 {
		t.Errorf("granted %d, the bank has %d, want 0 and 1", n, g.bank)
	}
	if got := g.Stats().Denied; got != 2 {
		t.Errorf("%d needs denied, want 2", got)
	}
}

// TestNothingCountsInItsEpoch: a peer that has answered with nothing is not asked again in the epoch of the answer,
// also if it was asked in one before.
func TestNothingCountsInItsEpoch(t *testing.T) {
	g := ledger(t, lentOut(), 4)
	g.Need(3, 2)
	asked := peersOf(g.Messages())
	g.endEpoch()
	for _, p := range asked {
		if err := g.Returned(p, Args{}); err != nil {
			t.Fatal(err)
		}
	}
	g.Need(3, 2)
	if again := peersOf(g.Messages()); len(asked) != 2 || len(again) != 0 {
		t.Errorf("revokes to %v, and to %v after they had nothing", asked, again)
	}
}
