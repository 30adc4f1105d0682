package udp_test

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/tickets"
	"github.com/golci/golci/internal/transport/udp"
)

// serials keeps the numbers of the records that came.
type serials struct{ came []uint64 }

func (s *serials) Record(_ int, rec []byte) {
	s.came = append(s.came, binary.LittleEndian.Uint64(rec[conduit.WordBytes:]))
}
func (s *serials) Bulk(int, uint64, int64, []byte) {}
func (s *serials) Gone(int, error)                 {}

// number sends a record of n bytes with a number.
func number(c conduit.Conduit, peer int, class conduit.Class, n int, serial uint64) conduit.Status {
	b, st := c.Reserve(peer, class, n)
	if st == conduit.OK {
		binary.LittleEndian.PutUint64(b[conduit.WordBytes:], serial)
		c.Commit(peer, uint64(n))
	}
	return st
}

// flood sends records of a class until one is refused, and returns how many.
func flood(c conduit.Conduit, peer int, class conduit.Class, n int, serial uint64) (k int) {
	for number(c, peer, class, n, serial) == conduit.OK {
		k++
	}
	return k
}

// until polls c until done.
func until(t *testing.T, c conduit.Conduit, s conduit.Sink, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); c.Poll(1000, s) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// limited makes a job; all is closed at its end.
func limited(t *testing.T, n int, j udptest.Job) []*udp.Conduit {
	t.Helper()
	cs := j.OpenUDP(t, n, conduit.Config{})
	t.Cleanup(func() {
		for i, c := range cs {
			if err := c.Close(); err != nil {
				t.Errorf("close of rank %d: %v", i, err)
			}
		}
	})
	return cs
}

// TestTickets has a receiver that does not poll: the sender runs out of tickets, keeps those for answers, and gets
// them back once its records have been served.
func TestTickets(t *testing.T) {
	const most = 20
	cs := limited(t, 2, udptest.Job{Limits: tickets.Limits{Messages: most}})
	if n := flood(cs[0], 1, conduit.Request, 64, 1); n != most-2 {
		t.Errorf("%d requests under way", n)
	}
	if n := flood(cs[0], 1, conduit.Reply, 64, 2); n != 2 {
		t.Errorf("%d replies", n)
	}
	if number(cs[0], 1, conduit.System, 64, 3) != conduit.Retry || cs[0].Failed(1) != nil || cs[0].Stats().Tickets.NoTicket != 3 {
		t.Errorf("without tickets: %+v, %v", cs[0].Stats().Tickets, cs[0].Failed(1))
	}
	time.Sleep(20 * time.Millisecond) // enough for acknowledgements, which are no reason to send more
	cs[0].Poll(10, &serials{})
	if n := flood(cs[0], 1, conduit.Request, 64, 1); n != 0 {
		t.Errorf("%d requests more, though none was served", n)
	}
	s := &serials{}
	until(t, cs[1], s, "all that was sent", func() bool { return len(s.came) == most })
	until(t, cs[0], &serials{}, "all tickets", func() bool { return cs[0].Stats().Tickets.Messages == most })
}

// TestChunks: KiB of requests and of replies are counted apart.
func TestChunks(t *testing.T) {
	cs := limited(t, 2, udptest.Job{Limits: tickets.Limits{Requests: 20, Replies: 11}})
	if n := flood(cs[0], 1, conduit.Request, 3000, 1); n != 6 {
		t.Errorf("%d requests of three chunks under way", n)
	}
	if n := flood(cs[0], 1, conduit.Reply, 2048, 1); n != 5 || cs[0].Stats().Tickets.NoChunk != 2 {
		t.Errorf("%d replies of two chunks under way, %+v", n, cs[0].Stats().Tickets)
	}
	s := &serials{}
	until(t, cs[1], s, "all that was sent", func() bool { return len(s.came) == 11 })
	until(t, cs[0], &serials{}, "chunks", func() bool { return number(cs[0], 1, conduit.Request, 8000, 1) == conduit.OK })
	until(t, cs[0], &serials{}, "chunks", func() bool { return number(cs[0], 1, conduit.Reply, 8000, 1) == conduit.OK })
}

// TestShorterRecord: a record that is shorter than what was reserved holds no more than it takes, and a reservation
// that is not used holds nothing.
func TestShorterRecord(t *testing.T) {
	cs := limited(t, 2, udptest.Job{Limits: tickets.Limits{Messages: 100, Requests: 20}})
	s := &serials{}
	for i := range 100 {
		until(t, cs[0], &serials{}, "chunks", func() bool {
			_, st := cs[0].Reserve(1, conduit.Request, 7000)
			return st == conduit.OK
		})
		if b, st := cs[0].Reserve(1, conduit.Request, 7000); st == conduit.OK {
			binary.LittleEndian.PutUint64(b[conduit.WordBytes:], uint64(i))
			cs[0].Commit(1, 64)
		} else {
			t.Fatalf("a second reservation in place of the first: %v", st)
		}
		until(t, cs[1], s, "record", func() bool { return len(s.came) == i+1 })
	}
	until(t, cs[0], s, "all tickets", func() bool { return cs[0].Stats().Tickets.Messages == 100 })
	if n := flood(cs[0], 1, conduit.Request, 1000, 1); n != 20 {
		t.Errorf("%d requests of one chunk, of 20 chunks", n)
	}
}

// TestGate has a rank whose tickets are all in replies that nobody takes: it leaves requests alone, but not system
// records and replies.
func TestGate(t *testing.T) {
	cs := limited(t, 2, udptest.Job{Limits: tickets.Limits{Messages: tickets.MinMessages}})
	flood(cs[1], 0, conduit.Reply, 64, 1)
	for serial, class := range []conduit.Class{conduit.Request, conduit.Reply, conduit.System} {
		if st := number(cs[0], 1, class, 64, uint64(serial)); st != conduit.OK {
			t.Fatal(st)
		}
	}
	s := &serials{}
	until(t, cs[1], s, "a reply and a system record", func() bool { return len(s.came) >= 2 })
	blocked := func() bool { return cs[1].Stats().Tickets.Unanswerable > 3 }
	until(t, cs[1], s, "a request at the gate", blocked)
	if slices.Sort(s.came); !slices.Equal(s.came, []uint64{1, 2}) || !cs[1].Pending() {
		t.Fatalf("through a closed gate came %d", s.came)
	}
	took := &serials{}
	until(t, cs[0], took, "the replies", func() bool { return len(took.came) == tickets.MinMessages })
	until(t, cs[1], s, "the request", func() bool { return len(s.came) == 3 })
}

// TestLimitsAndOrder: one poll takes system records first, then replies, then requests, and of each no more than its
// limit.
func TestLimitsAndOrder(t *testing.T) {
	const each = 20
	cs := limited(t, 2, udptest.Job{SafeLimit: 12, AMLimit: 8, SysLimit: 15})
	for i := range uint64(each) {
		for class, first := range []uint64{conduit.Request: 200, conduit.Reply: 100, conduit.System: 0} {
			if st := number(cs[0], 1, conduit.Class(class), 64, first+i); st != conduit.OK {
				t.Fatal(st)
			}
		}
	}
	for cs[1].Undelivered() < 3*each {
		cs[0].Poll(0, &serials{}) // what waits for others of its peer leaves
		cs[1].Poll(0, &serials{})
	}
	var s serials
	for _, want := range []int{15 + 12 + 8, 5 + 8 + 8, 4} {
		s.came = nil
		if n := cs[1].Poll(1000, &s); n != want || len(s.came) != want || !inTurn(s.came) {
			t.Errorf("%d records, want %d: %d", n, want, s.came)
		}
	}
}

// inTurn tells whether the hundreds, which stand for the queue, never fall.
func inTurn(came []uint64) bool {
	return slices.IsSortedFunc(came, func(a, b uint64) int { return int(a/100) - int(b/100) })
}

// TestClosedPeerGivesBack: tickets of records that a peer will not serve come back.
func TestClosedPeerGivesBack(t *testing.T) {
	cs := limited(t, 3, udptest.Job{Limits: tickets.Limits{Messages: tickets.MinMessages}})
	flood(cs[0], 1, conduit.Request, 64, 1)
	if st := number(cs[0], 2, conduit.Request, 64, 1); st != conduit.Retry {
		t.Fatalf("without tickets: %v", st)
	}
	if err := cs[1].Close(); err != nil {
		t.Fatal(err)
	}
	until(t, cs[0], &serials{}, "all tickets", func() bool { return cs[0].Stats().Tickets.Messages == tickets.MinMessages })
	if n := flood(cs[0], 2, conduit.Request, 64, 1); n != tickets.MinMessages-2 {
		t.Errorf("%d requests to another rank", n)
	}
}
