package portals

import (
	"slices"
	"testing"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/invariants"
)

// TestTickets has a receiver that does not poll: the sender runs out of tickets, keeps those for answers, and gets them back
// when the receiver polls, without a poll of its own.
func TestTickets(t *testing.T) {
	const limit = 20
	cs := ranks(t, 2, Config{MsgLimit: limit})
	n := uint64(0)
	for sendTo(cs[0], 1, conduit.Request, 64, n) == conduit.OK {
		n++
	}
	if n != limit-answerTickets || cs[0].Stats().TicketsWaited != 1 || cs[0].Failed(1) != nil {
		t.Fatalf("%d requests under way, %+v, %v", n, cs[0].Stats(), cs[0].Failed(1))
	}
	for i := range uint64(answerTickets) {
		must(t, cs[0], 1, conduit.Reply, 64, 100+i)
	}
	if st := sendTo(cs[0], 1, conduit.Reply, 64, 0); st != conduit.Retry {
		t.Errorf("a reply without a ticket: %v", st)
	}
	must(t, cs[0], 1, conduit.System, 64, 200)
	l := &log{}
	for range 3 {
		cs[1].Poll(2, l)
	}
	// One is the system record, two are the replies, which give the answer tickets back.
	if !slices.Equal(l.serials, []uint64{200, 100, 101, 0, 1, 2}) {
		t.Fatalf("arrived %v", l.serials)
	}
	for range 3 {
		must(t, cs[0], 1, conduit.Request, 64, n)
	}
	if st := sendTo(cs[0], 1, conduit.Request, 64, n); st != conduit.Retry {
		t.Errorf("more tickets than records served: %v", st)
	}
}

func TestChunks(t *testing.T) {
	cs := ranks(t, 2, Config{RequestChunks: 20, ReplyChunks: 11})
	n := 0
	for sendTo(cs[0], 1, conduit.Request, 3000, 0) == conduit.OK {
		n++
	}
	if n != 6 || cs[0].Stats().ChunksWaited != 1 {
		t.Errorf("%d requests of three chunks under way, %+v", n, cs[0].Stats())
	}
	for n = 0; sendTo(cs[0], 1, conduit.Reply, 2048, 0) == conduit.OK; {
		n++
	}
	if want := answerTickets + 3; n != want {
		t.Errorf("%d replies of two chunks under way, want %d", n, want)
	}
	pollAll(cs[1], &log{})
	must(t, cs[0], 1, conduit.Request, 8000, 0)
	must(t, cs[0], 1, conduit.Reply, 8000, 0)
}

// TestChunkStaysForReply has a requester that does not take its replies: their room is what its requests set aside, so it
// may send no more.
func TestChunkStaysForReply(t *testing.T) {
	cs := ranks(t, 2, Config{RequestChunks: 9})
	for i := range uint64(9) {
		must(t, cs[0], 1, conduit.Request, 64, i)
	}
	l := &log{then: func(src int) { must(t, cs[1], src, conduit.Reply, 1000, 0) }}
	pollAll(cs[1], l)
	if len(l.serials) != 9 {
		t.Fatalf("%d requests arrived", len(l.serials))
	}
	for range 2 {
		if st := sendTo(cs[0], 1, conduit.Request, 64, 0); st != conduit.Retry {
			t.Fatalf("the room of a reply that waits was given away: %v", st)
		}
	}
	pollAll(cs[0], &log{})
	for i := range uint64(9) {
		must(t, cs[0], 1, conduit.Request, 64, i)
	}
}

// TestBlockedPoll has a rank whose tickets are all in replies that nobody takes: it leaves requests alone, but not system
// records and replies.
func TestBlockedPoll(t *testing.T) {
	cs := ranks(t, 2, Config{MsgLimit: minTickets})
	for sendTo(cs[1], 0, conduit.Reply, 64, 1) == conduit.OK {
		continue
	}
	must(t, cs[0], 1, conduit.Request, 64, 7)
	must(t, cs[0], 1, conduit.Reply, 64, 8)
	must(t, cs[0], 1, conduit.System, 64, 9)
	l := &log{}
	if n := cs[1].Poll(10, l); n != 2 || !slices.Equal(l.serials, []uint64{9, 8}) {
		t.Fatalf("%d: %v", n, l.serials)
	}
	if n := cs[1].Poll(10, l); n != 0 || cs[1].Stats().Blocked != 2 || !cs[1].Pending() {
		t.Fatalf("%d records without a ticket for the answer, %+v", n, cs[1].Stats())
	}
	cs[0].Poll(10, &log{})
	if n := cs[1].Poll(10, l); n != 1 || l.serials[2] != 7 {
		t.Fatalf("%d: %v", n, l.serials)
	}
}

func TestLimitsAndOrder(t *testing.T) {
	const each = 20
	cs := ranks(t, 2, Config{})
	for i := range uint64(each) {
		must(t, cs[0], 1, conduit.Request, 64, 200+i)
		must(t, cs[0], 1, conduit.Reply, 64, 100+i)
		must(t, cs[0], 1, conduit.System, 64, i)
	}
	l := &log{}
	if n := cs[1].Poll(1000, l); n != each+defaultSafe+defaultAM {
		t.Fatalf("%d records in the first poll", n)
	}
	if !slices.IsSorted(l.serials) || l.serials[each] != 100 || l.serials[each+defaultSafe] != 200 {
		t.Errorf("order %v", l.serials)
	}
	pollAll(cs[1], l)
	st := cs[1].Stats()
	if len(l.serials) != 3*each || st.Sys.Events != each || st.Safe.Events != each || st.AM.Events != each {
		t.Errorf("%d records in all, %+v", len(l.serials), st)
	}
}

// TestClosedPeerGivesBack checks that tickets held by a peer that closed come back.
func TestClosedPeerGivesBack(t *testing.T) {
	cs := ranks(t, 3, Config{MsgLimit: minTickets})
	for sendTo(cs[0], 1, conduit.Request, 64, 0) == conduit.OK {
		continue
	}
	if st := sendTo(cs[0], 2, conduit.Request, 64, 0); st != conduit.Retry {
		t.Fatalf("without tickets: %v", st)
	}
	if err := cs[1].Close(); err != nil {
		t.Fatal(err)
	}
	for range minTickets - answerTickets {
		must(t, cs[0], 2, conduit.Request, 64, 0)
	}
}

func TestNoAllocation(t *testing.T) {
	if invariants.Race {
		t.Skip("the race detector allocates")
	}
	cs := ranks(t, 2, Config{})
	s := &answer{c: cs[1]}
	back := &answer{}
	if n := testing.AllocsPerRun(5000, func() {
		sendTo(cs[0], 1, conduit.Request, 64, 0)
		sendTo(cs[0], 1, conduit.System, 64, 0)
		cs[1].Pending()
		cs[1].Poll(8, s)
		cs[0].Poll(8, back)
		if _, st := cs[0].Reserve(1, conduit.Request, 64); st == conduit.OK {
			cs[0].drop(1)
		}
	}); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
	if back.n < 5000 {
		t.Errorf("%d replies", back.n)
	}
}

// answer replies to what comes, if it has a conduit.
type answer struct {
	c *Conduit
	n int
}

func (a *answer) Record(src int, _ []byte) {
	a.n++
	if a.c != nil {
		sendTo(a.c, src, conduit.Reply, 64, 0)
	}
}
func (a *answer) Bulk(int, uint64, int64, []byte) {}

// Gone implements conduit.Sink.
func (*answer) Gone(int, error) {}
