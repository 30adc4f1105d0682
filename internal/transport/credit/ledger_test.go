package credit

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

func ledger(t *testing.T, c Config, ranks int) *Ledger {
	t.Helper()
	g, err := NewLedger(c, 0, ranks)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// lentOut are terms with everything lent from the start that may be lent: 10 credits to each peer, least 4.
func lentOut() Config {
	c := small()
	c.PerPeer, c.Bank, c.Scavenge = 10, 0, 3
	return c
}

func peersOf(ms []Message) (peers []int) {
	for _, m := range ms {
		peers = append(peers, m.Peer)
	}
	return peers
}

// TestSixReasonsToSkip: one peer of each kind, and one that is revoked from.
func TestSixReasonsToSkip(t *testing.T) {
	g := ledger(t, lentOut(), 8)
	g.SetBusy(func(p int) bool { return p == 1 })
	g.peers[2].flags |= inFlight
	g.peers[3].flags |= zero
	g.peers[4].asked = 1
	g.peers[5].loan, g.bank = 4, 6 // as between the end of a loan and the change of the list; never so here
	g.enlistPeer(0)                // nor this
	if g.Need(7, 7) != 0 {
		t.Fatal("granted what was not there")
	}
	if got := peersOf(g.Messages()); len(got) != 1 || got[0] != 6 {
		t.Errorf("revokes to %v, want only rank 6", got)
	}
	for r := range reasons {
		want := uint64(1)
		if r == Asking {
			want = 2 // also rank 7 itself
		}
		if got := g.Stats().Skipped[r]; got != want {
			t.Errorf("%v: %d passed over, want %d", r, got, want)
		}
	}
}

// TestWalkGoesOn: the list is entered where the last walk ended, and everybody has a turn.
func TestWalkGoesOn(t *testing.T) {
	g := ledger(t, lentOut(), 9)
	var order []int
	for range 3 {
		g.Need(8, 2)
		for _, m := range append([]Message(nil), g.Messages()...) {
			order = append(order, m.Peer)
			if err := g.Returned(m.Peer, Args{}); err != nil { // nothing
				t.Fatal(err)
			}
		}
	}
	if len(order) != 7 {
		t.Fatalf("revokes to %v, want seven peers once: each has said that it has nothing", order)
	}
	for i, p := range order {
		if p != i+1 {
			t.Errorf("revokes to %v", order)
		}
	}
	if got := g.Stats().Zeroes; got != 7 {
		t.Errorf("%d answers with nothing counted", got)
	}
	g.endEpoch()
	if g.Need(8, 2); len(g.Messages()) != 3 {
		t.Error("in a new epoch those with nothing must be tried again")
	}
}

// TestNeedIsForgotten: a peer that asked for more is spared for some epochs, and then no longer.
func TestNeedIsForgotten(t *testing.T) {
	g := ledger(t, lentOut(), 3)
	for range 5 {
		g.Need(1, 2)
		g.Messages()
	}
	spared := func() bool {
		g.peers[2].flags |= zero
		g.scavengePeers(1)
		return len(g.Messages()) == 0
	}
	if g.endEpoch(); !spared() {
		t.Error("five needs are forgotten after one epoch")
	}
	if g.endEpoch(); spared() {
		t.Error("five needs are remembered after two epochs")
	}
}

// TestPatience: revokes that nobody answers stop counting, so that others are tried, and are repeated only much later.
func TestPatience(t *testing.T) {
	c := lentOut()
	g := ledger(t, c, 12)
	g.Need(11, 2)
	if n := len(g.Messages()); n != c.Scavenge {
		t.Fatalf("%d revokes", n)
	}
	if g.Need(11, 2); len(g.Messages()) != 0 {
		t.Fatal("more revokes on their way than allowed")
	}
	for range c.Patience {
		g.Freed(11, 1)
	}
	if g.Need(11, 2); len(g.Messages()) != c.Scavenge || g.Stats().Repeated != 0 {
		t.Fatalf("after the patience has run out: %+v", g.Stats())
	}
	for range 5 {
		g.endEpoch()
	}
	for range 30 {
		g.Need(11, 2)
		g.Messages()
		for range c.Patience {
			g.Freed(11, 1)
		}
	}
	if g.Stats().Repeated == 0 {
		t.Error("a revoke that was lost is never repeated")
	}
	if err := g.Check(); err != nil {
		t.Error(err)
	}
}

func TestLimits(t *testing.T) {
	c := small()
	c.Bank, c.Share = 200, 0
	g := ledger(t, c, 3)
	if n := g.Need(1, 100); n != c.LenderLimit {
		t.Errorf("granted %d in an epoch, limit %d", n, c.LenderLimit)
	}
	if n := g.Need(1, 1); n != 0 || g.Stats().Limited != 1 {
		t.Errorf("granted %d beyond the limit", n)
	}
	g.endEpoch()
	if n := g.Need(1, 100); n != c.LenderLimit-c.LenderLimit/4 {
		t.Errorf("granted %d after an epoch", n)
	}
	for range 10 {
		g.endEpoch()
		g.Need(1, 100)
	}
	if got := g.Peer(1).Loan; got != c.Max {
		t.Errorf("loan %d, the largest is %d", got, c.Max)
	}
	c.Share = 4
	if n := ledger(t, c, 3).Need(1, 100); n != c.Max-c.PerPeer {
		t.Errorf("granted %d from a rich bank", n)
	}
}

func TestReturnThatCannotBe(t *testing.T) {
	g := ledger(t, lentOut(), 3)
	for _, a := range []Args{{7}, {-1}, {1 << 16}} { // 6 are above the least
		if err := g.Returned(1, a); !errors.Is(err, ErrProtocol) {
			t.Errorf("%d: error %v", a[0], err)
		}
	}
	if err := g.Returned(1, Args{6}); err != nil || g.Banked() != 6 || g.countListed() != 1 {
		t.Errorf("bank %d, listed %d, error %v", g.Banked(), g.countListed(), err)
	}
	if err := g.Returned(1, Args{6}); err != nil || g.Banked() != 6 {
		t.Errorf("the same again: bank %d, error %v", g.Banked(), err)
	}
	if err := g.Check(); err != nil {
		t.Error(err)
	}
}

func TestForget(t *testing.T) {
	g := ledger(t, lentOut(), 6)
	g.Need(5, 2)
	if got := peersOf(g.Messages()); len(got) != 3 || got[0] != 1 {
		t.Fatal(got)
	}
	for _, p := range []int{1, 1, 2, 4} {
		g.Forget(p)
	}
	if g.InFlight() != 1 || g.countListed() != 2 || g.Need(4, 3) != 0 {
		t.Errorf("%d on their way, %d listed", g.InFlight(), g.countListed())
	}
	if err := g.Returned(2, Args{3}); err != nil { // sent before it died
		t.Error(err)
	}
	if err := g.Check(); err != nil {
		t.Error(err)
	}
}

func TestConfigThatCannotWork(t *testing.T) {
	for i, change := range []func(c *Config){
		func(c *Config) { c.PerPeer = 0 },
		func(c *Config) { c.PerPeer, c.Max = 3000, 3000 }, // more than narrow notes can tell
		func(c *Config) { c.Min = 0 },
		func(c *Config) { c.Min = 7 },
		func(c *Config) { c.Max = 5 },
		func(c *Config) { c.Max = 2048 },
		func(c *Config) { c.Bank = -1 },
		func(c *Config) { c.LenderLimit = 0 },
		func(c *Config) { c.RevokeLimit = 256 },
		func(c *Config) { c.Scavenge = 65 },
		func(c *Config) { c.Epoch = 0 },
		func(c *Config) { c.Patience = 0 },
	} {
		c := small()
		change(&c)
		if _, err := NewLedger(c, 0, 2); !errors.Is(err, errConfig) {
			t.Errorf("case %d, %+v: error %v", i, c, err)
		}
		if _, err := Borrow(&c); !errors.Is(err, errConfig) {
			t.Errorf("case %d: a borrower on such terms: error %v", i, err)
		}
	}
	for _, s := range [][2]int{{0, 0}, {2, 2}, {-1, 2}} {
		if _, err := NewLedger(small(), s[0], s[1]); !errors.Is(err, errConfig) {
			t.Errorf("rank %d of %d: error %v", s[0], s[1], err)
		}
	}
	for n := 1; n < 30000; n += 7 {
		for _, chunk := range []int{1024, 2048} {
			c := Terms(n, chunk)
			c.Narrow = true
			if err := c.Check(); err != nil {
				t.Fatalf("%d ranks: %v", n, err)
			}
		}
	}
}

// TestCheckSees: each invariant, broken by hand, is found.
func TestCheckSees(t *testing.T) {
	for i, damage := range []func(g *Ledger){
		func(g *Ledger) { g.bank++ },
		func(g *Ledger) { g.peers[1].loan--; g.bank++; g.delistPeer(1) },
		func(g *Ledger) { g.peers[1].loan -= 7; g.bank += 7 },
		func(g *Ledger) { g.peers[1].loan = 41; g.bank -= 31 },
		func(g *Ledger) { g.delistPeer(2); g.listed++ },
		func(g *Ledger) { g.list[0] |= 1 }, // the rank itself
		func(g *Ledger) { g.listed++ },
		func(g *Ledger) { g.flights = make([]flight, 4) },
		func(g *Ledger) { g.flights = []flight{{peer: 2}} },
	} {
		g := ledger(t, lentOut(), 4)
		if err := g.Check(); err != nil {
			t.Fatal(err)
		}
		if damage(g); g.Check() == nil {
			t.Errorf("case %d was not found", i)
		}
	}
}

// TestLargestJob: loans follow demand in jobs of as many ranks as there can be, and an idle loan is found wherever its
// peer stands.
func TestLargestJob(t *testing.T) {
	for _, ranks := range []int{65_536, 100_000, 1 << 20} {
		c := small()
		c.PerPeer, c.Bank, c.Scavenge = c.Min, 12, 3
		g := ledger(t, c, ranks)
		far := []int{3, ranks / 2, ranks - 1}
		for _, p := range far {
			if g.Need(p, 4) != 4 {
				t.Fatalf("%d ranks: nothing was lent to rank %d", ranks, p)
			}
		}
		for range enough {
			g.endEpoch()
		}
		if g.Need(7, 12) != 0 {
			t.Fatal("granted what was not there")
		}
		if got := peersOf(g.Messages()); !slices.Equal(got, far) {
			t.Errorf("%d ranks: revokes to %v, want %v", ranks, got, far)
		}
		if err := g.Check(); err != nil {
			t.Error(err)
		}
	}
}

// TestNextListed: the next peer in the list is that which a look at each peer in turn finds.
func TestNextListed(t *testing.T) {
	r, c := rand.New(rand.NewPCG(seedOf(t), 3)), small()
	c.PerPeer = c.Min
	for range 200 {
		n := 2 + r.IntN(300)
		g := ledger(t, c, n)
		for range 1 + r.IntN(8) {
			if p := r.IntN(n); !g.isListed(p) {
				g.enlistPeer(p)
			}
		}
		for from := range n + 1 {
			want := from % n
			for !g.isListed(want) {
				want = (want + 1) % n
			}
			if got := g.nextListed(from); got != want {
				t.Fatalf("%d peers, %b: from %d comes %d, want %d", n, g.list, from, got, want)
			}
		}
	}
}
