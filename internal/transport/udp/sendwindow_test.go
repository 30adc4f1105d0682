package udp

import (
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/tickets"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// TestDeadPeerGivesBack: tickets of records that a peer can serve no more come back, though it tells nothing; also of
// one that was reserved before and committed after.
func TestDeadPeerGivesBack(t *testing.T) {
	c := newVictim(t, seal.Trust).c
	c.cfg.Limits = tickets.Limits{Messages: 20}
	c.window = tickets.New(c.cfg.Limits, c.g.maxRecord)
	for range 5 {
		if _, st := c.Reserve(1, conduit.Request, 64); st != conduit.OK {
			t.Fatal(st)
		}
		c.Commit(1, 64)
	}
	if _, st := c.Reserve(1, conduit.Request, 64); st != conduit.OK {
		t.Fatal(st)
	}
	if n := c.window.Stats().Messages; n != 14 {
		t.Fatalf("%d tickets left of 20, six records hold one", n)
	}
	c.failPeer(1, conduit.ErrPeerDied, "")
	c.settleSends()
	if n := c.window.Stats().Messages; n != 19 {
		t.Errorf("%d tickets after the death of the peer, want all but one", n)
	}
	c.Commit(1, 64)
	c.settleSends()
	if n := c.window.Stats().Messages; n != 20 {
		t.Errorf("%d tickets in the end", n)
	}
}
