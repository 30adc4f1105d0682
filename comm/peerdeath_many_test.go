package comm

import (
	"errors"
	"fmt"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/local"
)

// TestManyDeaths: if many peers have failed, each operation ends with the error of its own peer. What pends is looked
// through once for all that one poll tells of, not once for each.
func TestManyDeaths(t *testing.T) {
	const ranks = 64
	cs, err := local.New(ranks, conduit.Config{Loan: 4})
	if err != nil {
		t.Fatal(err)
	}
	j := jobOver(t, cs, Config{Entries: 4 * ranks})
	s := j[0]
	var reqs []Req
	for p := 1; p < ranks; p++ {
		r, err := s.Irecv(1, p, p, make([]byte, 8), nil)
		if err != nil {
			t.Fatal(err)
		}
		q, err := s.Isend(1, p, p, make([]byte, 8), &Options{Form: Nonblocking, Mode: Synchronous})
		if err != nil {
			t.Fatal(err)
		}
		reqs = append(reqs, r, q)
	}
	for _, c := range cs[1:] {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	searches := 0
	hookSearched = func() { searches++ }
	defer func() { hookSearched = nil }()
	polls := 0
	for p := 1; p < ranks; p++ {
		for !s.e.Gone(p) {
			s.Poll()
			polls++
		}
	}
	if searches != 1 {
		t.Errorf("%d searches for %d deaths that %d polls told of, want 1", searches, ranks-1, polls)
	}
	hookSearched = nil
	j[:1].run(t, func(s *Server) error {
		for k, q := range reqs {
			var pe *conduit.PeerError
			if _, err := s.Wait(q); !errors.Is(err, ErrPeer) || !errors.As(err, &pe) || pe.Peer != k/2+1 {
				return fmt.Errorf("request %d: %w", k, err)
			}
		}
		return nil
	})
}
