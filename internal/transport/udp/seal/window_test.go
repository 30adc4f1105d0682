package seal

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestWindowEdge(t *testing.T) {
	for _, start := range []uint64{0, 1, 63, 64, windowSize, 1<<32 - 3, 1<<63 + 17, 1<<64 - 1 - 3*windowSize} {
		var w window
		top := start + windowSize
		w.markTaken(top)
		for _, c := range []struct {
			number uint64
			want   Verdict
		}{{top, Replayed}, {top - 1, Opened}, {top - windowSize + 1, Opened}, {top - windowSize, Old}, {top + 1, Opened}} {
			if got := w.verdict(c.number); got != c.want {
				t.Errorf("top %d, number %d: %v, want %v", top, c.number, got, c.want)
			}
		}
		w.markTaken(top - windowSize + 1)
		if got := w.verdict(top - windowSize + 1); got != Replayed {
			t.Errorf("top %d: the last in the window again: %v", top, got)
		}
		w.markTaken(top + 2*windowSize)
		if got := w.verdict(top + 1); got != Old {
			t.Errorf("top %d: after a leap: %v", top, got)
		}
	}
}

func TestWindowAtTheLastNumber(t *testing.T) {
	const last = 1<<64 - 1
	var w window
	w.markTaken(last - 1)
	w.markTaken(last)
	if a, b, c := w.verdict(last), w.verdict(last-1), w.verdict(0); a != Replayed || b != Replayed || c != Old {
		t.Errorf("last %v, before %v, zero %v", a, b, c)
	}
}

// TestWindowAgainstModel compares with a set of all numbers that came, over steps of every size.
func TestWindowAgainstModel(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 20 {
		var w window
		came := map[uint64]bool{}
		base := r.Uint64() >> r.IntN(64) >> 1
		top := uint64(0)
		for range 5000 {
			number := base + r.Uint64N(1<<r.IntN(16))
			if r.IntN(20) == 0 {
				base += r.Uint64N(1 << r.IntN(14))
			}
			want := Opened
			switch {
			case len(came) > 0 && number < top && top-number >= windowSize:
				want = Old
			case came[number]:
				want = Replayed
			}
			if got := w.verdict(number); got != want {
				t.Fatalf("number %d, top %d: %v, want %v", number, top, got, want)
			}
			if want == Opened {
				w.markTaken(number)
				came[number] = true
				top = max(top, number)
			}
		}
	}
}

// TestReorderAcrossKeys delivers out of order around the number at which a new key begins.
func TestReorderAcrossKeys(t *testing.T) {
	for _, mode := range []Mode{Encrypt, Authenticate} {
		s, b := ends(t, mode)
		first := sealed(t, s, RekeyAfter-3, nil)
		late := sealed(t, s, RekeyAfter-2, nil)
		later := sealed(t, s, RekeyAfter-1, nil)
		next := sealed(t, s, RekeyAfter, nil)
		far := sealed(t, s, RekeyAfter+windowSize-2, nil)
		expect(t, b, first, Opened, "old key")
		expect(t, b, next, Opened, "new key")
		expect(t, b, late, Opened, "old key, overtaken")
		expect(t, b, far, Opened, "new key, ahead")
		expect(t, b, later, Opened, "old key, last in the window")
		expect(t, b, late, Old, "out of the window")
		expect(t, b, next, Replayed, "again")
		if n := b.Stats().Derived; n != 2 {
			t.Errorf("%v: %d keys derived, want 2", mode, n)
		}
	}
}

// TestFirstIsOvertaken: the first datagram that arrives is of the new key, the next of the old.
func TestFirstIsOvertaken(t *testing.T) {
	s, b := ends(t, Encrypt)
	old := sealed(t, s, RekeyAfter-1, nil)
	expect(t, b, sealed(t, s, RekeyAfter, nil), Opened, "new key")
	expect(t, b, old, Opened, "old key")
	expect(t, b, sealed(t, s, RekeyAfter+1, nil), Opened, "new key")
	if n := b.Stats().Derived; n != 2 {
		t.Errorf("%d keys derived, want 2", n)
	}
}

// TestLeapOverKeys: all datagrams of several keys were lost.
func TestLeapOverKeys(t *testing.T) {
	s, b := ends(t, Encrypt)
	expect(t, b, sealed(t, s, 1, nil), Opened, "first")
	expect(t, b, sealed(t, s, 9*RekeyAfter, nil), Opened, "nine keys later")
	expect(t, b, sealed(t, s, 9*RekeyAfter+1, nil), Opened, "after that")
}

// TestForgeriesPushNoKeyOut: numbers made up by others cost a derivation at most, and the pair goes on.
func TestForgeriesPushNoKeyOut(t *testing.T) {
	s, b := ends(t, Encrypt)
	expect(t, b, sealed(t, s, 1, nil), Opened, "first")
	before := *b.receiver(1)
	for gen := range byte(9) {
		forged := sealed(t, s, uint64(gen)+2, nil)
		forged[HeaderSize-5] = gen + 1
		expect(t, b, forged, Forged, "made up")
	}
	if *b.receiver(1) != before {
		t.Error("forgeries changed what is kept of the peer")
	}
	expect(t, b, sealed(t, s, 99, nil), Opened, "the pair's next")
}
