package conformance

import (
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
)

// fillUp sends requests of n bytes, or random ones up to -n, from c to peer until there is no room, and returns how
// many.
func fillUp(t testing.TB, c conduit.Conduit, peer int, size func() int, serial uint64) (n int) {
	refused := 0
	for refused < 50 {
		switch st := trySend(c, peer, conduit.Request, size(), uint32(serial), serial); st {
		case conduit.OK:
			n++
			serial++
			refused = 0
		case conduit.Retry:
			refused++ // a fault wrapper refuses at random
		default:
			t.Fatalf("dead: %v", c.Failed(peer))
		}
	}
	return n
}

func constant(n int) func() int { return func() int { return n } }

func testRetryHasNoEffect(t suite, cs []conduit.Conduit) {
	y, s := newTallied(t, cs[1])
	sent := 0
	for round := range t.rounds(20) {
		sent += fillUp(t, cs[0], 1, constant(24+round*7%64), uint64(sent))
		for range 1000 {
			space, st := cs[0].Reserve(1, conduit.Request, cs[0].Caps().MaxRecord)
			if st == conduit.OK && cs[0].Caps().Ordered { // news of room travels on a network
				t.Fatalf("room for %d bytes in a full queue", len(space))
			}
		}
		for range 10 {
			before := total(y)
			if k := cs[1].Poll(1, s); total(y)-before != uint64(k) {
				t.Fatalf("Poll returned %d and delivered %d", k, total(y)-before)
			}
		}
	}
	drain(t, cs[1], s, sent-int(total(y)))
	y.want(0, sent)
	if n := cs[1].Poll(100, s); n != 0 {
		t.Errorf("%d records too many", n)
	}
	send(t, cs[0], s, 1, conduit.Request, 64, uint64(sent))
	drain(t, cs[1], s, 1)
}

// testLoanIsRoom plays the ledger: while credits are left, a request is never refused, wherever the ring wraps and
// however the receiver takes its time.
func testLoanIsRoom(t suite, cs []conduit.Conduit) {
	caps := cs[0].Caps()
	if caps.Loan == 0 {
		t.Skip("this conduit lends nothing")
	}
	r := random(t)
	left := caps.Loan
	var price []int // of what is on its way, by serial
	s := &sink{t: t, each: func(g got) { left += price[g.serial] }}
	for range t.rounds(20000) {
		n := 24 + r.IntN(caps.MaxRecord-24)
		if r.IntN(3) > 0 {
			n = 24 + r.IntN(min(512, caps.MaxRecord-24))
		}
		cost := (n + conduit.CreditBytes - 1) / conduit.CreditBytes
		if cost > caps.Loan {
			continue
		}
		pollWhile(t, cs[1], s, 1+r.IntN(3), func() bool { return left < cost }, "credits")
		left -= cost
		price = append(price, cost)
		if st := trySend(cs[0], 1, conduit.Request, n, 0, uint64(len(price)-1)); st != conduit.OK {
			t.Fatalf("record %d of %d bytes: %v with %d credits left", len(price), n, st, left)
		}
	}
}

// testReplyHasRoom checks that requests never take the last of the space.
func testReplyHasRoom(t suite, cs []conduit.Conduit) {
	r := random(t)
	limit := cs[0].Caps().MaxRecord - 24
	for _, class := range []conduit.Class{conduit.Reply, conduit.System} {
		for round := range t.rounds(200) {
			y, s := newTallied(t, cs[1])
			most := max(limit>>(round%8), 1) // a full queue of long records takes long where much is lost
			n := fillUp(t, cs[0], 1, func() int { return 24 + r.IntN(most) }, 0)
			st := conduit.Retry
			w := newWaiter(t, "room for a %v", class)
			for try := 0; st == conduit.Retry && (try < 50 || !cs[0].Caps().Ordered); try++ {
				if st = trySend(cs[0], 1, class, 24+r.IntN(limit), 0, uint64(n)); st == conduit.Retry && try > 50 {
					w.pause() // news of room travels on a network
				}
			}
			if st != conduit.OK {
				t.Fatalf("round %d: %v refused behind %d requests: %v", round, class, n, st)
			}
			drain(t, cs[1], s, n+1)
			y.want(0, n+1)
		}
	}
}

func testBudget(t suite, cs []conduit.Conduit) {
	caps := cs[0].Caps()
	data := make([]byte, 10*caps.BulkChunk)
	for _, budget := range []int{0, 1, 2, 3, 5, 100} {
		y := newTally(t, cs[1])
		seen, records, bytes := 0, 0, 0
		s := &sink{
			t: t, each: func(g got) { seen++; records++; y.add(g) },
			chunk: func(_ int, _ uint64, _ int64, b []byte) { seen++; bytes += len(b) },
		}
		sent := fillUp(t, cs[0], 1, constant(24), 0)
		bulk, _ := cs[0].BulkSend(1, 1, 0, data, nil)
		w := newWaiter(t, "records")
		for records < sent || bytes < bulk {
			seen = 0
			n := cs[1].Poll(budget, s)
			if n != seen || n > budget {
				t.Fatalf("Poll(%d) returned %d and delivered %d", budget, n, seen)
			}
			if budget == 0 {
				cs[1].Poll(1, s)
			}
			if n == 0 {
				w.pause()
			}
		}
	}
}

// testFairness keeps one queue full while others have one record each.
func testFairness(t suite, cs []conduit.Conduit) {
	const polls = 400
	for round := range 20 {
		from := map[int]int{}
		s := &sink{t: t, each: func(g got) { from[g.src]++ }}
		fillUp(t, cs[1], 0, constant(64), 0)
		for _, p := range []int{2, 3} {
			send(t, cs[p], &sink{t: t}, 0, conduit.Request, 64, 0)
		}
		w := newWaiter(t, "records of all ranks while rank 1 floods")
		for n := 0; n < polls || !cs[0].Caps().Ordered && (from[1] == 0 || from[2] == 0 || from[3] == 0); n++ {
			if n >= polls {
				w.pause() // a network takes its time
			}
			cs[0].Poll(1+round%5, s)
			fillUp(t, cs[1], 0, constant(64), 0)
			pollSenders(cs[1:], s)
		}
		if from[1] == 0 || from[2] != 1 || from[3] != 1 {
			t.Fatalf("after %d polls with rank 1 flooding: %v", polls, from)
		}
		pollWhile(t, cs[0], s, 100, func() bool { return cs[0].Pending() }, "empty queues")
	}
}

// pollSenders lets senders hear of room, which on a network takes a message.
func pollSenders(cs []conduit.Conduit, s conduit.Sink) {
	for _, c := range cs {
		if !c.Caps().Ordered {
			c.Poll(1, s)
		}
	}
}

func testNoAllocation(t suite, cs []conduit.Conduit) {
	if invariants.Race {
		t.Skip("the race detector allocates")
	}
	if a, ok := cs[0].(interface{ Allocates() bool }); ok && a.Allocates() {
		t.Skip("this conduit says that it allocates")
	}
	data := make([]byte, 64)
	s := &countSink{}
	round := func() {
		if _, st := cs[0].Reserve(1, conduit.Request, 64); st == conduit.OK {
			cs[0].Commit(1, 64)
		}
		cs[0].BulkSend(1, 7, 0, data, nil)
		cs[1].Pending()
		cs[1].Poll(8, s)
		cs[1].Wake()
		pollSenders(cs[:1], s)
	}
	if !cs[0].Caps().Ordered { // windows and inboxes grow to the size of what is on its way
		w := newWaiter(t, "something to arrive")
		for n := 0; n < 10000 || s.n == 0; n++ {
			if round(); n >= 10000 {
				w.pause()
			}
		}
	}
	if n := testing.AllocsPerRun(2000, round); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
	if s.n == 0 {
		t.Error("nothing arrived")
	}
}

type countSink struct{ n int }

func (s *countSink) Record(int, []byte)              { s.n++ }
func (s *countSink) Bulk(int, uint64, int64, []byte) { s.n++ }
func (*countSink) Gone(int, error)                   {}
