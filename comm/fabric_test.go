package comm

import (
	"errors"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/fabrictest"
)

func init() {
	for name, can := range fabrictest.Reaches {
		networks["fabric "+name] = func(t testing.TB, n int) []conduit.Conduit { return fabrictest.New(t, can, n, conduit.Config{}) }
	}
}

// TestOverFabrics runs what must hold over any conduit over those that reach registered memory only.
func TestOverFabrics(t *testing.T) {
	before := joined
	defer func() { joined = before }()
	for name, can := range fabrictest.Reaches {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && !(can.Get && can.Put) {
				t.Skip("-short: networks that can do all are enough")
			}
			joined = func(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit { return fabrictest.New(t, can, n, cfg) }
			t.Run("PingPongOfEverySize", TestPingPongOfEverySize)
			t.Run("UnexpectedOfEverySize", TestUnexpectedOfEverySize)
			t.Run("OrderWithinAPair", TestOrderWithinAPair)
			t.Run("Truncation", TestTruncation)
			t.Run("ManyGoroutines", TestManyGoroutines)
			t.Run("Cancel", TestCancel)
			t.Run("CloseEndsWhatWaits", TestCloseEndsWhatWaits)
			t.Run("TinyQueues", TestTinyQueues)
			t.Run("ManyLarge", manyLarge)
		})
	}
}

// manyLarge has both ranks send more large messages at once than there is room for operations and keys.
func manyLarge(t *testing.T) {
	j := newJob(t, 2, conduit.Config{}, Config{})
	const many, size = 60, 200_000
	j.run(t, func(s *Server) error {
		var rs []Req
		in := make([][]byte, many)
		for i := range many {
			out := make([]byte, size+i)
			pattern(out, i)
			in[i] = make([]byte, size+i)
			r, err := s.Isend(1, 1-s.Rank(), i, out, nil)
			if err != nil {
				return err
			}
			q, err := s.Irecv(1, 1-s.Rank(), i, in[i], nil)
			if err != nil {
				return err
			}
			rs = append(rs, r, q)
		}
		var all error
		for _, r := range rs {
			_, err := s.Wait(r)
			all = errors.Join(all, err)
		}
		for i, b := range in {
			all = errors.Join(all, checkPattern(b, i))
		}
		return all
	})
	for _, s := range j {
		c := s.e.Conduit().(*fabrictest.Card)
		if n := c.Keys(); n != 0 {
			t.Errorf("%d keys are left", n)
		}
		if c.Refused() == 0 {
			t.Errorf("rank %d has always had room", s.rank)
		}
	}
}
