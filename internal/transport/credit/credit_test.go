package credit

import (
	"math/rand/v2"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// newBorrower starts a pair with the given loan in credits, which does not change.
func newBorrower(loan int) (Borrower, error) { return Borrow(&Config{PerPeer: loan, Mode: Fixed}) }

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDefaultsFollowTheTable(t *testing.T) {
	for _, c := range []struct{ nodes, chunk, perPeer, banked int }{
		{1, 1024, 200, 400},
		{64, 1024, 170, 25600},
		{512, 1024, 64, 51200},
		{768, 1024, 48, 51200},
		{10000, 1024, 4, 51200},
		{100000, 1024, 4, 51200},
		{1, 2048, 200, 200},
		{64, 2048, 170, 12800},
		{4096, 2048, 8, 25600},
		{1 << 20, 2048, 8, 25600},
	} {
		p, b := Defaults(c.nodes, c.chunk)
		if p != c.perPeer || b != c.banked {
			t.Errorf("Defaults(%d, %d) = %d, %d, want %d, %d", c.nodes, c.chunk, p, b, c.perPeer, c.banked)
		}
	}
}

func TestDefaultsNeverRiseWithTheJob(t *testing.T) {
	last := 1 << 30
	for n := 1; n < 30000; n++ {
		p, _ := Defaults(n, 1024)
		if p > last || p < 4 {
			t.Fatalf("%d ranks: %d credits a peer after %d", n, p, last)
		}
		last = p
	}
}

func TestCost(t *testing.T) {
	for bytes, want := range map[int]int{0: 1, 1: 1, 256: 1, 257: 2, 4096: 16, 65280: 255} {
		if got := Cost(bytes); got != want {
			t.Errorf("Cost(%d) = %d, want %d", bytes, got, want)
		}
	}
}

func TestTakeIsAllOrNothing(t *testing.T) {
	b, err := newBorrower(4)
	if err != nil {
		t.Fatal(err)
	}
	if !b.Take(3) || b.Take(2) || !b.Take(1) || b.Take(1) {
		t.Fatal("a loan of 4 must allow 3, refuse 2, allow 1, refuse 1")
	}
	if b.InUse() != 4 {
		t.Fatalf("in use %d, want 4", b.InUse())
	}
}

func TestReturnsRepeatedAndLateAreHarmless(t *testing.T) {
	b, _ := newBorrower(8)
	b.Take(8)
	for _, c := range []struct {
		told uint32
		news bool
	}{{3, true}, {3, false}, {2, false}, {8, true}, {3, false}} {
		news, err := b.noteTold(c.told)
		if err != nil || news != c.news {
			t.Fatalf("Told(%d) = %v, %v", c.told, news, err)
		}
	}
	if b.InUse() != 0 {
		t.Fatalf("in use %d", b.InUse())
	}
}

func TestReturnOfMoreThanSpentIsAFault(t *testing.T) {
	b, _ := newBorrower(8)
	b.Take(2)
	if _, err := b.noteTold(3); err == nil {
		t.Fatal("no error")
	}
	if b.InUse() != 2 {
		t.Fatalf("a faulty return changed the ledger: %d in use", b.InUse())
	}
}

func TestLoanOutOfRange(t *testing.T) {
	for _, n := range []int{-1, 0, 1<<15 + 1} {
		if _, err := newBorrower(n); err == nil {
			t.Errorf("newBorrower(%d) gave no error", n)
		}
	}
}

// TestPairConserves runs both halves of a pair over a channel that loses, repeats and delays returns, with counters
// that start just before they wrap.
func TestPairConserves(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	const loan = 20
	b, _ := newBorrower(loan)
	l := newLender(loan)
	start := ^uint32(0) - 50
	b.returned, l.told = start, start
	var wire []int
	var returns []uint32
	for range 20000 {
		switch r.IntN(4) {
		case 0, 1:
			if n := 1 + r.IntN(6); b.Take(n) {
				wire = append(wire, n)
			}
		case 2:
			if len(wire) > 0 {
				if l.noteFreed(wire[0]) {
					returns = append(returns, l.tellFreed())
				}
				wire = wire[1:]
			}
		case 3:
			if len(returns) > 0 && r.IntN(3) > 0 { // else it is told again by a later one
				if _, err := b.noteTold(returns[r.IntN(len(returns))]); err != nil {
					t.Fatal(err)
				}
			}
		}
		flying := 0
		for _, n := range wire {
			flying += n
		}
		if flying > b.InUse() || b.InUse() > loan {
			t.Fatalf("%d in flight, %d in use, loan %d", flying, b.InUse(), loan)
		}
		if len(returns) > 50 {
			returns = returns[len(returns)-50:]
		}
	}
	for _, n := range wire {
		l.noteFreed(n)
	}
	if _, err := b.noteTold(l.tellFreed()); err != nil || b.InUse() != 0 {
		t.Fatalf("after the last return: %d in use, %v", b.InUse(), err)
	}
}

func FuzzTold(f *testing.F) {
	f.Add(uint8(5), uint32(3))
	f.Fuzz(func(t *testing.T, take uint8, told uint32) {
		b, _ := newBorrower(64)
		b.Take(int(take))
		_, _ = b.noteTold(told)
		if b.InUse() < 0 || b.InUse() > 64 {
			t.Fatalf("in use %d", b.InUse())
		}
	})
}

func TestStaticLendsTheBank(t *testing.T) {
	for nodes, want := range map[int]int{1: 600, 2: 640, 64: 576, 512: 64 + 51200/511, 10000: 4 + 51200/9999} {
		if got := Static(nodes); got != want {
			t.Errorf("Static(%d) = %d, want %d", nodes, got, want)
		}
	}
}
