package credits

import (
	"fmt"

	"github.com/golci/golci/internal/transport/credit"
)

// totals are sums over all ranks.
type totals struct {
	received, stalls, moved, revokes uint64
}

// since makes the row of what happened since the last call.
func (s *sim) since() Epoch {
	now := totals{received: s.received, stalls: s.stalls}
	banked := 0
	for i := range s.nodes {
		st := s.nodes[i].ledger.Stats()
		now.moved += st.Granted + st.Returned
		now.revokes += st.Revokes
		banked += s.nodes[i].ledger.Banked()
	}
	row := Epoch{
		Moved: now.moved - s.past.moved, Stalls: now.stalls - s.past.stalls, Revokes: now.revokes - s.past.revokes,
		Requests: now.received - s.past.received, Banked: banked, Gini: s.gini(),
	}
	s.past = now
	return row
}

// gini is the Gini coefficient of the loans of all pairs. Pairs without a state of their own have the first loan.
func (s *sim) gini() float64 {
	count := make([]int, credit.MaxLoan+1)
	for i := range s.nodes {
		n := &s.nodes[i]
		for slot := range n.links {
			count[n.ledger.Peer(slot).Loan]++
		}
		count[s.c.terms.PerPeer] += len(s.nodes) - 1 - len(n.links)
	}
	return giniOf(count)
}

// giniOf takes the number of times that each value occurs.
func giniOf(count []int) float64 {
	n, sum, ranked := 0.0, 0.0, 0.0 // ranked: the sum of value times place, in order of value
	for v, c := range count {
		k := float64(c)
		ranked += float64(v) * (k*n + k*(k+1)/2)
		n += k
		sum += float64(v) * k
	}
	if sum == 0 {
		return 0
	}
	return max(0, (2*ranked/sum-n-1)/n)
}

// checkEach is the number of pairs up to which every rank is checked after every tick. Above, every tick checks as many
// pairs in turn, and every row all of them.
const checkEach = 64

// sample checks some ranks, in turn.
func (s *sim) sample() error {
	for left, i := checkEach, s.now; left > 0 && i < s.now+len(s.nodes); i++ {
		n := &s.nodes[i%len(s.nodes)]
		if err := s.check(n); err != nil {
			return err
		}
		left -= max(1, len(n.links))
	}
	return nil
}

func (s *sim) checkAll() error {
	for i := range s.nodes {
		if err := s.check(&s.nodes[i]); err != nil {
			return err
		}
	}
	return nil
}

// check checks a rank against its ledger's invariants, and the two ends of each pair against each other. Credits that
// a borrower does not know of yet, or has sent back, are on their way. So the lender's count is never the smaller
// one.
func (s *sim) check(n *node) error {
	if s.c.terms.Mode == credit.NoFlow {
		return nil
	}
	if err := n.ledger.Check(); err != nil {
		return fmt.Errorf("%w: tick %d, rank %d: %w", ErrInvariant, s.now, n.id, err)
	}
	lent := 0
	for slot, to := range n.links {
		b := &s.nodes[to.node].out[to.slot]
		loan := n.ledger.Peer(slot).Loan
		lent += loan
		if b.Loan() > loan || b.InUse() > b.Loan() || b.Loan() < s.c.terms.Min {
			return fmt.Errorf("%w: tick %d: rank %d has lent %d credits to %d, who uses %d of %d", ErrInvariant,
				s.now, n.id, loan, to.node, b.InUse(), b.Loan())
		}
	}
	if n.flying < 0 || n.flying > lent {
		return fmt.Errorf("%w: tick %d: %d credits in flight to rank %d of %d lent", ErrInvariant, s.now, n.flying, n.id,
			lent)
	}
	return nil
}
