package comm

import (
	"testing"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// flooded is a job of two. Rank 0 has many messages for rank 1 in its queue. Nobody polls unless the caller does, and
// one message is handled in a poll.
func flooded(t *testing.T, cs []conduit.Conduit, messages int) (a, b *Server) {
	t.Helper()
	few := func(c *am.Config) { c.Loan, c.Poll = 40, 1 }
	j := jobOver(t, cs, Config{Eager: 1 << 10, Entries: 1 << 12}, few)
	for range messages {
		if _, err := j[0].Isend(1, 1, 5, make([]byte, 1000), nil); err != nil {
			t.Fatal(err)
		}
	}
	return j[0], j[1]
}

// turns polls both until done.
func (s *Server) turns(t *testing.T, with *Server, done func() bool) {
	t.Helper()
	for end := time.Now().Add(hangLimit); !done(); {
		s.Poll()
		with.Poll()
		if time.Now().After(end) {
			t.Fatal("it does not end")
		}
	}
}

// TestAnswersPassTheQueue: the answer to an envelope, and the call to forget one, arrive before what waits in the queue
// of the pair.
func TestAnswersPassTheQueue(t *testing.T) {
	const messages = 400
	for name, open := range map[string]func() []conduit.Conduit{
		"local": func() []conduit.Conduit { return joined(t, 2, conduit.Config{}) },
		"udp":   func() []conduit.Conduit { return udptest.Job{Mode: seal.Trust}.Open(t, 2, conduit.Config{}) },
	} {
		t.Run(name+"/receive", func(t *testing.T) {
			a, b := flooded(t, open(), messages)
			data, buf := make([]byte, 4096), make([]byte, 4096)
			pattern(data, 3)
			if _, err := b.Isend(1, 0, 9, data, nil); err != nil {
				t.Fatal(err)
			}
			r, err := a.Irecv(1, 1, 9, buf, nil)
			if err != nil {
				t.Fatal(err)
			}
			a.turns(t, b, r.Ready)
			if err := checkPattern(buf, 3); err != nil || b.arrived > messages/2 {
				t.Errorf("the bytes have come after %d messages of the queue (%v)", b.arrived, err)
			}
			a.turns(t, b, func() bool { return b.arrived == messages })
		})
		t.Run(name+"/cancel", func(t *testing.T) {
			a, b := flooded(t, open(), 0)
			s, err := a.Isend(1, 1, 9, make([]byte, 4096), nil)
			if err != nil {
				t.Fatal(err)
			}
			for range messages {
				if _, err := a.Isend(1, 1, 5, make([]byte, 1000), nil); err != nil {
					t.Fatal(err)
				}
			}
			a.Cancel(s)
			a.turns(t, b, s.Ready)
			if st, err := a.Wait(s); !st.Cancelled || b.arrived > messages/2 {
				t.Errorf("the send has ended after %d messages of the queue: %+v, %v", b.arrived, st, err)
			}
			a.turns(t, b, func() bool { return b.arrived >= messages })
		})
	}
}
