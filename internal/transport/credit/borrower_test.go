package credit

import (
	"errors"
	"testing"
)

// TestNeed: the first stall asks at once. Nothing more is asked for until that is answered. After a refusal the need
// travels with the next request.
func TestNeed(t *testing.T) {
	b := borrower(t, small()) // a loan of 6
	b.Take(6)
	a, ask := b.Stall(2)
	if !ask || a[0] != 12 {
		t.Fatalf("asked for a loan of %d (%v), want twice the loan", a[0], ask)
	}
	if _, ask = b.Stall(2); ask || b.need != 0 {
		t.Error("asked again before the answer")
	}
	if _, err := b.Hear32(Note{Returned: 6}.Pack32()); err != nil { // answered, without a grant
		t.Fatal(err)
	}
	b.Take(5)
	if _, ask = b.Stall(2); ask || b.need != 6 {
		t.Errorf("after a refusal: asked %v, need %d", ask, b.need)
	}
	if _, ask = b.Stall(2); ask || b.need != 8 {
		t.Errorf("a second request that waits: asked %v, need %d", ask, b.need)
	}
	if f := b.Wire(0, 0); f.Need() != 0 {
		t.Error("a need on a record that is no request")
	}
	b.Take(1)
	if f := b.Wire(1, 0); f.Need() != 8 || f.Cost() != 1 || f.Epoch() {
		t.Errorf("fields %x", f)
	}
	if f := b.Wire(1, 0); f.Need() != 0 {
		t.Error("the need was sent twice")
	}
	if _, err := b.Hear32(Note{Returned: 6, Granted: 8}.Pack32()); err != nil || b.Loan() != 14 {
		t.Fatalf("loan %d, %v", b.Loan(), err)
	}
	b.Take(14)
	if _, ask = b.Stall(1); !ask {
		t.Error("after a grant the next stall must ask at once")
	}
}

func TestNeedIsBounded(t *testing.T) {
	c := small()
	c.PerPeer, c.Max = 1000, 1000
	b := borrower(t, c)
	b.Take(1000)
	b.state |= refused
	for range 1000 {
		b.Stall(200)
	}
	if f := b.Wire(200, 0); f.Need() != maxNeed || f.Cost() != 200 {
		t.Errorf("fields %x", f)
	}
	if b.stalls() != 31 {
		t.Errorf("%d stalls counted", b.stalls())
	}
}

// TestRevoke has the rule for what is given back, case by case.
func TestRevoke(t *testing.T) {
	for _, s := range []struct {
		name                               string
		loan, inUse, most, revoked, stalls int
		want, epochs, give                 int
	}{
		{name: "idle", loan: 300, want: 296, give: 296},
		{name: "idle, little wanted", loan: 300, want: 10, give: 10},
		{name: "never below the least", loan: 10, want: 300, give: 6},
		{name: "what was used is kept", loan: 40, most: 36, want: 30, give: 4},
		{name: "use decays", loan: 40, most: 36, epochs: 1, want: 30, give: 8},
		{name: "what is in flight is kept", loan: 40, inUse: 38, want: 30, give: 2},
		{name: "the limit, while it sends", loan: 100, inUse: 1, most: 20, want: 80, give: 8},
		{name: "the rest of the limit", loan: 100, most: 20, revoked: 5, want: 80, give: 3},
		{name: "beyond the limit", loan: 100, most: 20, revoked: 9, want: 80},
		{name: "after a stall", loan: 100, stalls: 1, want: 80},
		{name: "a stall is forgotten", loan: 100, stalls: 1, epochs: 1, want: 80, give: 80},
		{name: "an old one", loan: 100, want: -3},
	} {
		c := small()
		c.Max = 300
		b := borrower(t, c)
		b.loan, b.granted = uint16(s.loan), uint16(s.loan-c.PerPeer)
		b.inUse, b.most, b.revoked = uint16(s.inUse), uint16(s.most), uint8(s.revoked)
		b.state += uint8(s.stalls) * oneStall
		target := uint16(s.want)
		a, err := b.Revoke(&c, Args{int32(target), int32(s.epochs)})
		if err != nil || int(a[0]) != s.give || b.Loan() != s.loan-s.give {
			t.Errorf("%s: gave %d, want %d; loan %d, error %v", s.name, a[0], s.give, b.Loan(), err)
		}
		if again, err := b.Revoke(&c, Args{int32(target)}); s.give == s.want && (err != nil || again[0] != a[0]) {
			t.Errorf("%s: the same revoke again was answered %d, then %d, %v", s.name, a[0], again[0], err)
		}
	}
}

// TestRevokeLimitIsOfTheEpoch: revokes that follow each other share one limit, until the epoch ends.
func TestRevokeLimitIsOfTheEpoch(t *testing.T) {
	c := small()
	c.Max = 300
	b := borrower(t, c)
	b.loan, b.granted, b.most = 200, uint16(200-c.PerPeer), 100
	for _, s := range []struct{ target, epochs, given int32 }{{6, 0, 6}, {20, 0, 8}, {20, 0, 8}, {100, 1, 14}, {100, 0, 14}} {
		if a, err := b.Revoke(&c, Args{s.target, s.epochs}); err != nil || a[0] != s.given {
			t.Errorf("up to %d: %d given in all, want %d; %v", s.target, a[0], s.given, err)
		}
	}
}

func TestRevokeThatCannotBe(t *testing.T) {
	c := small()
	b := borrower(t, c)
	for _, x := range []int32{-1, 1 << 16} {
		if _, err := b.Revoke(&c, Args{x}); !errors.Is(err, ErrProtocol) {
			t.Errorf("%d: error %v", x, err)
		}
	}
	c.Mode = Fixed
	if b := borrower(t, c); b.Loan() != 6 {
		t.Fatal(b.Loan())
	} else if _, err := b.Revoke(&c, Args{1}); !errors.Is(err, ErrProtocol) {
		t.Errorf("of a loan that does not change: error %v", err)
	}
}

func TestHint(t *testing.T) {
	c := small()
	b := borrower(t, c)
	if _, ask := b.Hint(5); ask {
		t.Error("asks for less than it has")
	}
	a, ask := b.Hint(20)
	if !ask || a[0] != 20 {
		t.Fatalf("%v, %v", a, ask)
	}
	g, err := NewLedger(c, 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	if n := g.Asked(1, a); n != 8 { // the lender limit
		t.Errorf("granted %d", n)
	}
	if _, err := b.Hear32(g.Note(1).Pack32()); err != nil || b.Loan() != 14 {
		t.Fatalf("loan %d, %v", b.Loan(), err)
	}
	if a, err := b.Revoke(&c, Args{8}); err != nil || a[0] != 0 {
		t.Errorf("what was hinted is given back: %v, %v", a, err)
	}
	if g.Asked(1, Args{-5}) != 0 || g.Asked(1, Args{3}) != 0 || g.Peer(1).Loan != 14 {
		t.Error("asked for less, and the loan changed")
	}
}

func TestWithoutFlowControl(t *testing.T) {
	c := small()
	c.Mode = NoFlow
	b := borrower(t, c)
	g, err := NewLedger(c, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100_000 {
		if !b.Take(3) {
			t.Fatalf("request %d was refused", i)
		}
		if _, ask := b.Stall(3); ask || b.Wire(3, 0).Need() != 0 {
			t.Fatal("a need without flow control")
		}
		g.Freed(1, 3)
		if i%5000 == 0 { // more than 2^16 credits late
			if _, err := b.Hear32(g.Note(1).Pack32()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := b.Hear32(g.Note(1).Pack32()); err != nil || b.InUse() != 0 {
		t.Errorf("in use %d, error %v", b.InUse(), err)
	}
	if g.Need(1, 5) != 0 || g.Epoch() != 0 {
		t.Error("loans move without flow control")
	}
}
