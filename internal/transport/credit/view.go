package credit

import "fmt"

// Stats returns the counters.
func (g *Ledger) Stats() Stats {
	s := g.stats
	s.Requests = g.requests()
	return s
}

// Banked is the number of credits in the bank.
func (g *Ledger) Banked() int { return g.bank }

// InFlight is the number of revokes that count as on their way.
func (g *Ledger) InFlight() int { return len(g.flights) }

// countListed is the number of peers that may be revoked from.
func (g *Ledger) countListed() int { return g.listed }

// Lent is a Ledger's state of one peer.
type Lent struct {
	Loan     int  // credits lent
	Owed     int  // credits to be told of
	Given    int  // growth of late
	Asked    int  // needs of late
	Listed   bool // may be revoked from
	InFlight bool // a revoke was not answered yet
}

// Peer returns the state of a peer, for display.
func (g *Ledger) Peer(peer int) Lent {
	l := &g.peers[peer]
	return Lent{
		Loan: int(l.loan), Owed: int(l.owed), Given: int(l.given), Asked: int(l.asked),
		Listed: g.isListed(peer), InFlight: l.flags&inFlight != 0,
	}
}

// Borrowed is a Borrower's state of its loan.
type Borrowed struct {
	Loan, InUse, Most, Stalls, Revoked int
}

// View returns the state, for display.
func (b *Borrower) View() Borrowed {
	return Borrowed{int(b.loan), int(b.inUse), int(b.most), b.stalls(), int(b.revoked)}
}

// Check examines the whole book, in a time proportional to the ranks. Loans and bank must add up to the total. No loan
// may be outside its limits. The scavenge list must have exactly the peers above the least loan. Every revoke that
// counts as on its way must be. Check returns an error for what does not hold.
func (g *Ledger) Check() error {
	sum, above := g.bank, 0
	for i := range g.peers {
		loan := int(g.peers[i].loan)
		if i != g.self {
			sum += loan
		}
		moves := g.c.Mode == Dynamic && i != g.self && g.peers[i].flags&gone == 0
		if moves && (loan < g.c.Min || loan > g.c.Max) {
			return fmt.Errorf("credit: peer %d: loan %d is outside %d..%d", i, loan, g.c.Min, g.c.Max)
		}
		want := moves && loan > g.c.Min
		if want != g.isListed(i) {
			return fmt.Errorf("credit: peer %d: loan %d of at least %d, listed %v", i, loan, g.c.Min, !want)
		}
		if want {
			above++
		}
	}
	if total := g.c.Total(len(g.peers)); sum != total || g.bank < 0 {
		return fmt.Errorf("credit: loans and bank (%d) make %d credits of %d", g.bank, sum, total)
	}
	if above != g.listed {
		return fmt.Errorf("credit: %d peers in the list, %d counted", above, g.listed)
	}
	return g.checkFlights()
}

func (g *Ledger) checkFlights() error {
	if len(g.flights) > g.c.Scavenge {
		return fmt.Errorf("credit: %d revokes on their way", len(g.flights))
	}
	for _, f := range g.flights {
		if g.peers[f.peer].flags&inFlight == 0 {
			return fmt.Errorf("credit: a revoke to peer %d counts as on its way, and is not", f.peer)
		}
	}
	return nil
}
