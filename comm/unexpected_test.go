package comm

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
)

// TestBoundOverAllSenders: many senders, each far below its own limit, do not make a rank keep more than its budget.
// All messages are received, and nobody stays throttled.
func TestBoundOverAllSenders(t *testing.T) {
	const senders, budget, size, loan = 7, 1 << 20, 64, 200
	const count = 1500 // more than the budget holds
	polls := 20_000    // after the budget was used up
	if invariants.Race {
		polls = 2_000
	}
	j := newJob(t, senders+1, conduit.Config{}, Config{Unexpected: 1 << 30})
	z := j[0]
	if z.unmatched.budget != 1<<30 {
		t.Errorf("a limit of 1 GiB a sender gives a budget of %d bytes", z.unmatched.budget)
	}
	z.unmatched.budget = budget
	j.run(t, func(s *Server) (err error) {
		defer func() {
			if err != nil && s.rank == 0 { // the others would wait for ever
				t.Error(err)
				for _, x := range j {
					x.Close()
				}
			}
		}()
		if s.rank != 0 {
			rs := make([]Req, count)
			for i := range rs {
				var err error
				if rs[i], err = s.Isend(1, 0, 1, make([]byte, size), nil); err != nil {
					return err
				}
			}
			if err := s.AwaitAll(append(rs[:0:0], rs...)); err != nil {
				return err
			}
			return s.Send(1, 0, 2, nil, nil)
		}
		most := int64(0)
		for after := 0; after < polls; runtime.Gosched() {
			z.Poll()
			if z.unmatched.full || most > 2*budget {
				after++
			}
			sum := int64(0)
			for i := range z.peers {
				sum += z.peers[i].unexpected.Load()
			}
			most = max(most, sum)
		}
		// Beyond the budget comes what the credits of each sender cover at that moment, of 256 bytes each.
		if slack := int64(senders * loan * (size + opOverhead)); most > budget+slack {
			return fmt.Errorf("%d unmatched bytes are kept, the budget is %d and %d", most, budget, slack)
		}
		if most < budget/2 {
			return fmt.Errorf("only %d unmatched bytes were kept", most)
		}
		for range senders * count {
			if _, err := s.Recv(1, AnySource, 1, make([]byte, size), nil); err != nil {
				return err
			}
		}
		for src := 1; src <= senders; src++ {
			if _, err := s.Recv(1, src, 2, nil, nil); err != nil {
				return err
			}
		}
		for range 10 * weighEvery {
			s.Poll()
		}
		if len(z.unmatched.throttled) > 0 || z.unmatched.full {
			return fmt.Errorf("ranks %v stay throttled; full: %v", z.unmatched.throttled, z.unmatched.full)
		}
		return nil
	})
}

func TestUnexpectedBounds(t *testing.T) {
	for _, c := range []struct {
		limit         int64
		size          int
		sender, total int64
	}{
		{0, 1, 128 << 20, 128 << 20},
		{0, 3, 64 << 20, 128 << 20},
		{0, 10_000, 1 << 20, 128 << 20},
		{4096, 10_000, 4096, 128 << 20},
		{1 << 30, 2, 1 << 30, 1 << 30},
	} {
		var u unexpectedBudget
		if u.bounds(c.limit, c.size); u.limit != c.sender || u.budget != c.total {
			t.Errorf("limit %d, %d ranks: %d a sender and %d in all, want %d and %d", c.limit, c.size, u.limit, u.budget, c.sender, c.total)
		}
	}
}
