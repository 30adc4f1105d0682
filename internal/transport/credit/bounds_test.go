package credit

import "testing"

// TestDefaultsOfFewNodes: with fewer nodes than in the first row, the first row holds.
func TestDefaultsOfFewNodes(t *testing.T) {
	for chunk, table := range map[int][]row{1024: chunk1K[:], 2048: chunk2K[:]} {
		for n := range table[0].nodes + 1 {
			if p, b := Defaults(n, chunk); p != table[0].perPeer || b != table[0].banked {
				t.Errorf("%d nodes, chunks of %d: %d and %d, want %d and %d", n, chunk, p, b, table[0].perPeer, table[0].banked)
			}
		}
	}
}

// TestDebtOfAQuarter: a debt is due when it is just a quarter of the loan, and not before.
func TestDebtOfAQuarter(t *testing.T) {
	l := newLender(400)
	if l.noteFreed(99) {
		t.Error("99 of 400 credits are due")
	}
	if !l.noteFreed(1) {
		t.Error("100 of 400 credits are not due")
	}
}

// TestNeedIsToldOnce: what a request has told of the need, the next one does not tell again.
func TestNeedIsToldOnce(t *testing.T) {
	b := Borrower{need: 5, inUse: 7}
	if f := b.WireNeed(0); f != 0 {
		t.Errorf("a reply tells %#x", f)
	}
	if f := b.WireNeed(3); f != 3|5<<8 || b.asking != 7 {
		t.Errorf("a request tells %#x, and %d are asked for", f, b.asking)
	}
	if f := b.WireNeed(3); f != 3 {
		t.Errorf("the next request tells %#x", f)
	}
}
