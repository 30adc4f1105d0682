// Package credit is the ledger of receive space: who may send how much to whom without asking.
//
// A credit stands for 256 bytes of a rank's receive space. A rank lends credits to each peer; a request spends the
// credits its record takes, and they come back when the receiver has copied the record out. Both directions of a
// pair are kept as cumulative counters that wrap, so that a return can be told twice, or be lost and told again later,
// without harm.
//
// The types do no IO, take no lock and start nothing: their owner serialises each half of a pair. The design is that of
// the GASNet Portals conduit; here the loans are static.
package credit

import (
	"fmt"

	"github.com/golci/golci/internal/invariants"
)

// Unit is the number of bytes of receive space that one credit stands for.
const Unit = 256

// MaxCost is the largest cost of one record: the wire has eight bits for it.
const MaxCost = 255

// Cost is the number of credits that a record of the given length in bytes takes, at least one.
func Cost(bytes int) int {
	return max(1, (bytes+Unit-1)/Unit)
}

// Borrower is the sending half of a pair: what a peer has lent to this rank. It is owned by whoever holds the pair's
// send lock.
type Borrower struct {
	spent    uint32 // cumulative, wraps
	returned uint32 // cumulative, as last told by the peer
	loan     uint16
}

// NewBorrower starts a pair with the given loan in credits.
func NewBorrower(loan int) (Borrower, error) {
	if loan < 1 || loan > 1<<15 {
		return Borrower{}, fmt.Errorf("credit: a loan of %d credits is outside 1..%d", loan, 1<<15)
	}
	return Borrower{loan: uint16(loan)}, nil
}

// Loan is the number of credits lent.
func (b *Borrower) Loan() int { return int(b.loan) }

// InUse is the number of credits spent and not yet returned.
func (b *Borrower) InUse() int { return int(b.spent - b.returned) }

// Take spends n credits if so many are free, all or nothing.
func (b *Borrower) Take(n int) bool {
	if b.spent-b.returned+uint32(n) > uint32(b.loan) {
		return false
	}
	b.spent += uint32(n)
	return true
}

// Undo gives back n credits of a Take whose record was not sent.
func (b *Borrower) Undo(n int) { b.spent -= uint32(n) }

// Told takes in the peer's cumulative count of returned credits and reports whether it was news. A count that is
// older than what is known is ignored; one that returns more than was spent is a fault of the peer.
func (b *Borrower) Told(cumulative uint32) (news bool, err error) {
	delta := cumulative - b.returned
	if delta == 0 || int32(delta) < 0 {
		return false, nil
	}
	if delta > b.spent-b.returned {
		return false, fmt.Errorf("credit: peer returned %d credits, only %d are out", delta, b.spent-b.returned)
	}
	b.returned = cumulative
	if invariants.Enabled {
		invariants.Check(b.InUse() <= b.Loan(), "%d credits in use of a loan of %d", b.InUse(), b.Loan())
	}
	return true, nil
}

// Lender is the receiving half of a pair: what this rank has lent to a peer. It is owned by whoever polls.
type Lender struct {
	freed uint32 // cumulative credits whose space has been copied out
	told  uint32 // what the peer has been told of it
	due   uint16 // tell when that many are owed
}

// NewLender starts a pair with the given loan in credits. Owed credits are due when they are a quarter of the loan.
func NewLender(loan int) Lender {
	return Lender{due: uint16(max(1, loan/4))}
}

// Freed notes that the space of a record of n credits can be used again, and reports whether the debt is due.
func (l *Lender) Freed(n int) (due bool) {
	l.freed += uint32(n)
	return l.freed-l.told >= uint32(l.due)
}

// Owed is the number of credits freed and not yet told.
func (l *Lender) Owed() int { return int(l.freed - l.told) }

// Tell returns the cumulative count to give the peer, and counts it as told.
func (l *Lender) Tell() uint32 {
	l.told = l.freed
	return l.freed
}
