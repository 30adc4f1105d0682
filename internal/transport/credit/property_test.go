package credit

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

// seedOf prints the seed of a randomised test; CREDIT_SEED replays one.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("CREDIT_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("CREDIT_SEED=%d", seed)
	return seed
}

func small() Config {
	return Config{
		PerPeer: 6, Min: 4, Bank: 12, Max: 40, LenderLimit: 8, RevokeLimit: 8, Scavenge: 2, Patience: 20, Epoch: 32,
		Share: 16, Narrow: true,
	}
}

// TestWorldKeepsItsInvariants delivers in any order, repeats and loses notes, and checks every invariant at every step.
// Notes travel on records or in words, and counters wrap on the way.
func TestWorldKeepsItsInvariants(t *testing.T) {
	seed := seedOf(t)
	for _, words := range []bool{false, true} {
		for _, ranks := range []int{2, 3, 7} {
			t.Run(fmt.Sprintf("ranks=%d/words=%v", ranks, words), func(t *testing.T) {
				w, err := newWorld(seed, ranks, small(), words)
				if err != nil {
					t.Fatal(err)
				}
				w.rewind(300)
				run(t, w, 20000)
				unstuck(t, w)
				var granted, returned uint64
				for _, g := range w.ranks {
					granted += g.stats.Granted
					returned += g.stats.Returned
				}
				if granted == 0 || ranks > 3 && returned == 0 {
					t.Errorf("%d credits granted and %d returned: nothing was tested", granted, returned)
				}
			})
		}
	}
}

func run(t *testing.T, w *world, steps int) {
	t.Helper()
	for i := range steps {
		if i%1000 == 500 { // somebody goes away, somebody comes back
			w.away[w.r.IntN(len(w.away))] = true
			w.away[w.r.IntN(len(w.away))] = false
		}
		if err := w.step(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		if err := w.check(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	drain(t, w)
}

// unstuck has one peer need more and more while the others are idle: whatever has happened before, it must get all
// there is to have.
func unstuck(t *testing.T, w *world) {
	t.Helper()
	g := w.ranks[0]
	for range 400 {
		g.endEpoch()
		for range w.c.Patience {
			g.Freed(1, 0)
		}
		g.Need(1, 5)
		w.collect(0)
		for len(w.system) > 0 {
			s, _ := pick(w.r, &w.system)
			if err := w.serve(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	spare := g.bank
	for x := 2; x < len(w.ranks); x++ {
		spare += int(g.peers[x].loan) - w.c.Min
	}
	if got := g.Peer(1).Loan; got < w.c.Max && spare > 0 {
		t.Errorf("%d credits lent, up to %d are wanted, and %d lie idle", got, w.c.Max, spare)
	}
}

// drain delivers everything and finds that nothing is out, and that both ends know the same.
func drain(t *testing.T, w *world) {
	t.Helper()
	for len(w.records)+len(w.system) > 0 {
		if r, ok := pick(w.r, &w.records); ok {
			w.receive(r)
		}
		if s, ok := pick(w.r, &w.system); ok {
			if err := w.serve(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	for y := range w.ranks {
		for x := range w.ranks {
			if x == y {
				continue
			}
			w.tell(y, x)
			b := &w.pairs[x][y]
			var err error
			if w.words {
				_, err = b.Hear64(w.words64[y][x])
			} else {
				_, err = b.Hear32(w.notes[len(w.notes)-1].w)
			}
			if l := &w.ranks[y].peers[x]; err != nil || b.InUse() != 0 || b.Loan() != l.lentBytes() || l.flags&inFlight != 0 {
				t.Errorf("%d to %d: %+v, lent %d, flags %x, error %v", x, y, b.View(), l.loan, l.flags, err)
			}
		}
	}
	if err := w.check(); err != nil {
		t.Error(err)
	}
}

// TestNoDemandMovesNothing: traffic that never stalls leaves every loan and bank as it was, over many epochs.
func TestNoDemandMovesNothing(t *testing.T) {
	w, err := newWorld(seedOf(t), 5, small(), false)
	if err != nil {
		t.Fatal(err)
	}
	for range 5000 {
		for x := range w.ranks {
			y := (x + 1 + w.r.IntN(4)) % 5
			if !w.send(x, y, 1+w.r.IntN(4)) {
				t.Fatal("a request stalled")
			}
			r, _ := pick(w.r, &w.records)
			w.receive(r)
			w.tell(r.dst, r.src)
			if _, err := w.pairs[x][y].Hear32(w.notes[len(w.notes)-1].w); err != nil {
				t.Fatal(err)
			}
			w.notes = w.notes[:0]
		}
	}
	for _, g := range w.ranks {
		if s := g.Stats(); g.Banked() != 12 || s.Granted+s.Revokes != 0 || s.Epochs < 100 {
			t.Errorf("bank %d, %+v", g.Banked(), s)
		}
	}
}

func FuzzWorld(f *testing.F) {
	f.Add(uint64(1), uint8(2), uint8(3), uint16(200), false)
	f.Add(uint64(2), uint8(6), uint8(0), uint16(800), true)
	f.Fuzz(func(t *testing.T, seed uint64, ranks, bank uint8, steps uint16, words bool) {
		c := small()
		c.Bank = int(bank)
		w, err := newWorld(seed, 2+int(ranks)%6, c, words)
		if err != nil {
			t.Fatal(err)
		}
		w.rewind(uint32(seed % 100))
		run(t, w, int(steps)%3000)
	})
}

// FuzzPeer has a peer say anything: no panic, no broken book.
func FuzzPeer(f *testing.F) {
	f.Add(uint64(5<<32|3), int32(70000), int32(-1), uint16(0x8401))
	f.Fuzz(func(t *testing.T, word uint64, x, y int32, fields uint16) {
		c := small()
		b, err := Borrow(&c)
		g, err2 := NewLedger(c, 0, 3)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		b.Take(3)
		_, _ = b.Hear32(uint32(word))
		_, _ = b.Hear64(word)
		_, _ = b.Revoke(&c, Args{x, y, 0})
		g.Freed(1, Fields(fields).Cost())
		g.Need(1, Fields(fields).Need())
		g.Asked(2, Args{x, y, 0})
		_ = g.Returned(1, Args{x, y, 0})
		if err := g.Check(); err != nil {
			t.Fatal(err)
		}
		if b.inUse > b.loan {
			t.Fatalf("%+v", b.View())
		}
	})
}
