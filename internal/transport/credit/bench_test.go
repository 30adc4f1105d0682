package credit

import "testing"

// plainPair is the least that flow control can be: one loan that never changes, in 32-bit counters. It is what the
// ledger is measured against.
type plainPair struct{ spent, returned, freed, told, loan, due uint32 }

func (p *plainPair) take(n int) bool {
	if p.spent-p.returned+uint32(n) > p.loan {
		return false
	}
	p.spent += uint32(n)
	return true
}

func (p *plainPair) put(n int) bool {
	p.freed += uint32(n)
	return p.freed-p.told >= p.due
}

const benchLoan = 170

var (
	sink  int
	plain plainPair // in memory, as the ledger's state is
)

// BenchmarkTake is a credit taken and, when the loan is used up, all of it returned.
func BenchmarkTake(b *testing.B) {
	b.Run("plain", func(b *testing.B) {
		plain = plainPair{loan: benchLoan}
		p := &plain
		for b.Loop() {
			if !p.take(1) {
				p.returned = p.spent
			}
		}
	})
	for _, mode := range []Mode{Fixed, Dynamic, NoFlow} {
		b.Run(mode.String(), func(b *testing.B) {
			c := Terms(64, 1024)
			c.Mode, c.PerPeer = mode, benchLoan
			x, err := Borrow(&c)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if !x.Take(1) {
					if _, err := x.noteTold(x.returned + uint32(x.inUse)); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkWire is the fields of a record, with nothing to say.
func BenchmarkWire(b *testing.B) {
	c := Terms(64, 1024)
	x, err := Borrow(&c)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		sink += int(x.Wire(1, 0))
	}
}

// BenchmarkFreed is a credit whose space is free again, told of when a quarter of the loan is owed.
func BenchmarkFreed(b *testing.B) {
	b.Run("plain", func(b *testing.B) {
		plain = plainPair{due: benchLoan / 4}
		p := &plain
		for b.Loop() {
			if p.put(1) {
				p.told = p.freed
			}
		}
	})
	b.Run("lender", func(b *testing.B) {
		l := newLender(benchLoan)
		for b.Loop() {
			if l.noteFreed(1) {
				sink += int(l.tellFreed())
			}
		}
	})
	b.Run("ledger", func(b *testing.B) {
		g, err := NewLedger(Terms(64, 1024), 0, 64)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if g.Freed(1, 1) {
				sink += int(g.Note(1).Returned)
			}
		}
	})
}

// BenchmarkNeed is a need granted and given back, with its messages.
func BenchmarkNeed(b *testing.B) {
	c := Terms(64, 1024)
	c.LenderLimit = c.Max
	g, err := NewLedger(c, 0, 64)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		n := g.Need(1, 32)
		l := &g.peers[1]
		l.given = 0
		if err := g.Returned(1, Args{int32(g.gotCount(l) + uint16(n))}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestHotCallsDoNotAllocate(t *testing.T) {
	c := small()
	x := borrower(t, c)
	g := ledger(t, c, 3)
	if n := testing.AllocsPerRun(1000, func() {
		if x.Take(1) {
			sink += int(x.Wire(1, g.Epoch()))
			g.Freed(1, 1)
		} else if _, err := x.Hear32(g.Note(1).Pack32()); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
