package credit

import (
	"errors"
	"testing"
)

func borrower(t *testing.T, c Config) *Borrower {
	t.Helper()
	b, err := Borrow(&c)
	if err != nil {
		t.Fatal(err)
	}
	return &b
}

func TestNotesPack(t *testing.T) {
	n := Note{Returned: 0xabcdef12, Granted: 0x3456, Epoch: 0x7fff}
	if got, want := n.Pack32(), uint32(0x456<<20|0xdef12); got != want {
		t.Errorf("32 bits: %x, want %x", got, want)
	}
	if got, want := n.Pack64(), uint64(0x7fff3456abcdef12); got != want {
		t.Errorf("64 bits: %x, want %x", got, want)
	}
	n.Epoch++
	if n.Pack64()>>63 != 0 {
		t.Error("bit 63 is not the note's")
	}
}

// TestNotesWrapAndAreLate goes around both counters several times; every note is repeated after the next, and one
// that is as late as it may be is dropped.
func TestNotesWrapAndAreLate(t *testing.T) {
	c := small()
	c.Max, c.PerPeer, c.Narrow = MaxLoanNarrow, 1000, true
	b := borrower(t, c)
	n := Note{}
	for i := range 3 * (1 << 20) / 1000 {
		old := n
		if !b.Take(1000) {
			t.Fatalf("round %d: %+v", i, b.View())
		}
		n.Returned += 1000
		if i%2 == 0 {
			n.Granted += 1000
		}
		for _, w := range []struct {
			n    Note
			news bool
		}{
			{n, true},
			{n, false},
			{old, false},
			{Note{Returned: n.Returned - 1<<19, Granted: n.Granted}, false},
			{Note{Returned: n.Returned, Granted: n.Granted - 1<<11}, false},
		} {
			news, err := b.Hear32(w.n.Pack32())
			if err != nil || news != w.news {
				t.Fatalf("round %d: note %+v after %+v: %v, %v", i, w.n, n, news, err)
			}
		}
		if i%2 == 0 { // give them back, as a Return does
			b.loan -= 1000
		}
		if b.InUse() != 0 || b.Loan() != 1000 {
			t.Fatalf("round %d: %+v", i, b.View())
		}
	}
}

func TestNotesThatCannotBeAreFaults(t *testing.T) {
	b := borrower(t, small())
	b.Take(3)
	before := *b
	for _, w := range []Note{{Returned: 4}, {Granted: 1 << 15}} {
		if _, err := b.Hear64(w.Pack64()); w.Returned > 0 && !errors.Is(err, ErrProtocol) {
			t.Errorf("64 bits, %+v: error %v", w, err)
		}
	}
	if _, err := b.Hear32(Note{Returned: 4}.Pack32()); !errors.Is(err, ErrProtocol) {
		t.Errorf("error %v", err)
	}
	b.loan = 1<<15 - 100
	if _, err := b.Hear64(Note{Granted: 200}.Pack64()); !errors.Is(err, ErrProtocol) {
		t.Errorf("a grant beyond all loans: error %v", err)
	}
	if b.loan = before.loan; *b != before {
		t.Errorf("a fault changed %+v to %+v", before, *b)
	}
}

// TestWordsCarryEpochs: use decays by four for each epoch that passed. Credits that were returned meanwhile do not
// count as in use at once, though nobody looked at the word.
func TestWordsCarryEpochs(t *testing.T) {
	c := small()
	c.PerPeer, c.Max = 400, 400
	b := borrower(t, c)
	b.Take(100)
	if _, err := b.Hear64(Note{Returned: 100}.Pack64()); err != nil || b.View().Most != 100 {
		t.Fatalf("%+v, %v", b.View(), err)
	}
	b.Take(200)
	if _, err := b.Hear64(Note{Returned: 300, Epoch: 10}.Pack64()); err != nil || b.View().Most != 20 {
		t.Errorf("200 credits in 10 epochs: %+v, %v", b.View(), err)
	}
	if news, err := b.Hear64(Note{Returned: 300, Epoch: 11}.Pack64()); err != nil || !news || b.View().Most != 5 {
		t.Errorf("an epoch by itself: %v, %+v, %v", news, b.View(), err)
	}
}

// TestEpochsOnRecords: each epoch is told once, whatever carries it; after many, as many as make everything decay.
func TestEpochsOnRecords(t *testing.T) {
	count := func(b *Borrower, epoch uint8) (k int) {
		for range 20 {
			if b.Wire(1, epoch).Epoch() {
				k++
			}
		}
		return k
	}
	b := borrower(t, small())
	for _, s := range []struct {
		epoch uint8
		want  int
	}{{0, 0}, {1, 1}, {4, 3}, {4, 0}, {54, 8}, {250, 8}, {2, 8}, {3, 1}} {
		if got := count(b, s.epoch); got != s.want {
			t.Errorf("up to epoch %d: told %d times, want %d", s.epoch, got, s.want)
		}
	}
	b.need = 3 // all of its bits are those of the epoch
	if f := b.Wire(1, 3); f.Need() != 3 || f.Epoch() {
		t.Errorf("fields %x: the need was lost", f)
	}
	var a Args
	if b.Stamp(&a, 5); a[1] != 2 || count(b, 5) != 0 {
		t.Errorf("a system message tells %d, and records more", a[1])
	}
}
