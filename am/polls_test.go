package am

import (
	"encoding/binary"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/test/inside"
	"github.com/golci/golci/internal/transport/credit"
)

// twoWays runs f over a conduit with credit words and over one without.
func twoWays(t *testing.T, f func(t *testing.T, v variant)) {
	for _, v := range []variant{{name: "words"}, {name: "bare", bare: true}} {
		v.cfg = conduit.Config{Loan: 100, MaxRecord: 1024}
		t.Run(v.name, func(t *testing.T) { f(t, v) })
	}
}

// ignore registers handler 1, which does nothing, and 2, whose requests are ordered.
func ignore(t *testing.T, es []*Endpoint) {
	t.Helper()
	none := func(*Token, []uint64, []byte) {}
	register(t, es, 1, Spec{Name: "nothing much", MaxReply: NoReply, Run: none})
	register(t, es, 2, Spec{Name: "ordered", MaxReply: NoReply, Ordered: true, Run: none})
}

// TestDebtsArePaidWhenIdle: a debt is told after a number of polls in a row without news, and not before.
func TestDebtsArePaidWhenIdle(t *testing.T) {
	twoWays(t, func(t *testing.T, v variant) {
		polls := idlePollsToTell
		if v.bare {
			polls = idlePollsToSend
		}
		es := endpoints(t, 2, v, Config{Loan: 100})
		ignore(t, es)
		owed := func(after string, want int) {
			t.Helper()
			if n := es[1].recv.ledger.Owed(0); n != want {
				t.Errorf("after %s %d credits are owed, want %d", after, n, want)
			}
		}
		for sent := range 3 {
			if err := es[0].RequestShort(1, 1); err != nil {
				t.Fatal(err)
			}
			es[1].Poll()
			for range polls - 1 {
				es[1].Poll()
			}
			owed("almost enough polls without news", sent+1)
		}
		es[1].Poll()
		owed("the last poll without news", 0)
	})
}

// TestThrottle: a peer that throttles gets no ordered requests, and all others. It may throttle and allow again at
// any time.
func TestThrottle(t *testing.T) {
	twoWays(t, func(t *testing.T, v variant) {
		es := endpoints(t, 2, v, Config{})
		ignore(t, es)
		open := func(h uint8) Outcome {
			_, first, o := es[0].Open(1, h, 0, 0)
			if o == Opened {
				es[0].Commit(1, first)
			} else {
				es[0].Abandon(1)
			}
			return o
		}
		for round := range 6 {
			on := round%2 == 1
			es[1].AsPoller(func() { es[1].Throttle(0, on) })
			es[0].Poll()
			if es[0].Lock(1) != Stalled {
				t.Fatal("rank 1 is not there")
			}
			throttled := es[0].Throttled(1)
			es[0].Abandon(1)
			want := Opened
			if on {
				want = Stalled
			}
			if plain, ordered := open(1), open(2); throttled != on || plain != Opened || ordered != want {
				t.Errorf("round %d: throttled %v; a request is %v, an ordered one %v, want %v",
					round, throttled, plain, ordered, want)
			}
			es[1].Poll()
			es[0].Poll()
		}
	})
}

// TestLateWordsDoNotThrottle: of two records that say something of returned credits the later one decides, in
// whatever order they come.
func TestLateWordsDoNotThrottle(t *testing.T) {
	es := endpoints(t, 2, variant{bare: true}, Config{})
	said := func(returned uint32, flags uint8) header {
		return header{word0(headerBytes, 1, flags, 0), word1(0, 0, credit.Note{Returned: returned}.Pack32())}
	}
	for _, x := range []struct {
		h    header
		want bool
	}{
		{said(0, 0), false},
		{said(5, flagThrottle), true},
		{said(4, 0), true}, // late
		{said(5, flagThrottle|flagOrdered), true},
		{said(6, flagOrdered), false},
		{said(5, flagThrottle), false}, // late
		{said(6, flagThrottle), true},
		{said(6, 0), false},
	} {
		es[0].recv.hearCredits(1, x.h)
		w := es[0].senderOf(1).theirs.Load()
		if on := w&wordThrottle != 0; on != x.want {
			t.Errorf("a record that tells of %d credits, flags %b: throttled %v, want %v",
				x.h.toldCredits(), x.h.flags(), on, x.want)
		}
	}
	if n := uint32(es[0].senderOf(1).theirs.Load()); n != (credit.Note{Returned: 6}).Pack32() {
		t.Errorf("%d was heard last, want 6 credits", n)
	}
}

// waiter is a queued Medium of 860 bytes, which costs 4 credits.
type waiter struct {
	next Queued
	e    *Endpoint
	sent bool
}

func (x *waiter) Emit() bool {
	_, first, o := x.e.OpenQueued(1, 1, 0, 860)
	if o == Opened {
		x.e.CommitQueued(1, first)
	}
	return o == Opened
}
func (x *waiter) Sent(*fult.Worker)        { x.sent = true }
func (x *waiter) Fail(error, *fult.Worker) {}
func (x *waiter) Next() *Queued            { return &x.next }

// stallOnCredits spends 4 of 6 credits towards rank 1, and opens a request for which the others are too few. e may then
// queue it.
func stallOnCredits(t *testing.T, e *Endpoint) {
	t.Helper()
	if err := e.RequestMedium(1, 1, make([]byte, 860)); err != nil {
		t.Fatal(err)
	}
	if _, _, o := e.Open(1, 1, 0, 860); o != Stalled {
		t.Fatalf("a request that is too dear is %v", o)
	}
}

// TestEachHeadStalls: each request that waits for credits at the head of the queue counts as one stall, also where it
// comes there later.
func TestEachHeadStalls(t *testing.T) {
	twoWays(t, func(t *testing.T, v variant) {
		es := endpoints(t, 2, v, Config{Credits: terms(0)}) // a loan of 6, which does not grow
		ignore(t, es)
		xs := [3]waiter{{e: es[0]}, {e: es[0]}, {e: es[0]}}
		stallOnCredits(t, es[0])
		es[0].Enqueue(1, &xs[0])
		for i := range xs[1:] {
			if es[0].Lock(1) != Stalled {
				t.Fatal("rank 1 is not there")
			}
			es[0].Enqueue(1, &xs[i+1])
		}
		stalls := func(want int) {
			t.Helper()
			for range 3 { // several looks count once
				es[0].Poll()
			}
			if n := es[0].Credits().Peers[1].Borrowed.Stalls; n != want {
				t.Errorf("%d stalls, want %d", n, want)
			}
		}
		stalls(1)
		for i := range xs {
			es[1].Poll()
			stalls(min(i+2, len(xs)))
			if !xs[i].sent || i < 2 && xs[i+1].sent {
				t.Errorf("after %d returns: %+v", i+1, xs)
			}
		}
	})
}

// TestAsksLeaveAtOnce: what a rank asks for is sent by the call, not by the next poll.
func TestAsksLeaveAtOnce(t *testing.T) {
	twoWays(t, func(t *testing.T, v variant) {
		es := endpoints(t, 2, v, Config{Credits: terms(30)})
		es[0].Hint(20, 1)
		es[1].Poll()
		if s := es[1].Credits().Stats; s.Needs != 1 || s.Granted != 14 {
			t.Errorf("it came to %+v", s)
		}
	})
}

// TestNeedOfARequest: a peer whose need is granted is told at once, with what it is owed. One whose need is denied is
// told nothing.
func TestNeedOfARequest(t *testing.T) {
	twoWays(t, func(t *testing.T, v variant) {
		for _, bank := range []int{0, 20} {
			c := terms(bank)
			c.PerPeer = 40
			es := endpoints(t, 2, v, Config{Credits: c})
			ignore(t, es)
			for _, need := range []int{0, 5} {
				ln := es[0].senderOf(1)
				if !ln.credit.Take(1) {
					t.Fatal("no credits")
				}
				rec, st := es[0].c.Reserve(1, conduit.Request, headerBytes)
				if st != conduit.OK {
					t.Fatal(st)
				}
				binary.LittleEndian.PutUint64(rec[8:], word1(credit.Fields(need<<8|1), 0, 0))
				es[0].c.Commit(1, word0(headerBytes, 1, 0, 0))
				es[1].Poll()
			}
			es[0].Poll()
			owed, loan := 2, 40
			if bank > 0 {
				owed, loan = 1, 45 // the last request came after the word
			}
			if p := es[0].Credits().Peers[1].Borrowed; p.Loan != loan {
				t.Errorf("with a bank of %d the loan is %d, want %d", bank, p.Loan, loan)
			}
			if n := es[1].recv.ledger.Owed(0); n != owed {
				t.Errorf("with a bank of %d %d credits are owed, want %d", bank, n, owed)
			}
		}
	})
}

// TestEpochsWaitForThePair: what a system message says of epochs is taken in under the lock of the pair.
func TestEpochsWaitForThePair(t *testing.T) {
	cfg := conduit.Config{Loan: 100, MaxRecord: 1024}
	es := endpoints(t, 2, variant{bare: true, cfg: cfg}, Config{Credits: terms(0)})
	if es[1].Lock(0) != Stalled {
		t.Fatal("rank 0 is not there")
	}
	es[1].senderOf(0).credit.Hint(32)
	waits, ended := inside.Waits("am.(*receiver).credit", func() {
		if err := es[1].recv.credit(0, credit.Ask, credit.Args{0, 1}); err != nil {
			t.Error(err)
		}
	})
	if most := es[1].senderOf(0).credit.View().Most; !waits || most != 32 {
		t.Errorf("it took in the epoch of a pair that another holds: waits %v, in use at most %d", waits, most)
	}
	if waits {
		es[1].Abandon(0)
	}
	<-ended
	if most := es[1].Credits().Peers[0].Borrowed.Most; most != 8 {
		t.Errorf("after an epoch %d count as in use at most, want 8", most)
	}
}

// keeping is a conduit that keeps bulk data of keepMin bytes or more, and gives them back in a Poll when it may.
type keeping struct {
	conduit.Conduit
	ends []conduit.Completion
	may  bool
}

const keepMin = 1000

func (c *keeping) BulkSend(peer int, id uint64, off int64, data []byte, keep conduit.Completion) (n int, kept bool) {
	if keep == nil || len(data) < keepMin {
		return c.Conduit.BulkSend(peer, id, off, data, nil)
	}
	c.ends = append(c.ends, keep)
	return len(data), true
}

func (c *keeping) Pending() bool { return c.may && len(c.ends) > 0 || c.Conduit.Pending() }

func (c *keeping) Poll(budget int, sink conduit.Sink) int {
	n := c.Conduit.Poll(budget, sink)
	if c.may {
		for _, x := range c.ends {
			x.Completed(keepMin, nil)
		}
		n += len(c.ends)
		c.ends = nil
	}
	return n
}

// ends counts the ends of its Bulks.
type ends struct{ sent, failed int }

func (x *ends) Sent(*fult.Worker)        { x.sent++ }
func (x *ends) Fail(error, *fult.Worker) { x.failed++ }

// TestPollsCountWhatCameBack: bulk data that the conduit keeps end when it gives them back. The poll counts that as
// done, beside what it sends. Data that are to stay are not kept.
func TestPollsCountWhatCameBack(t *testing.T) {
	var keeper *keeping
	v := variant{make: func(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
		cs := (&variant{cfg: cfg}).conduits(t, n)
		keeper = &keeping{Conduit: cs[0]}
		cs[0] = keeper
		return cs
	}}
	es := endpoints(t, 2, v, Config{})
	var kept, copied ends
	for range 2 {
		es[0].PutBulk(1, &Bulk{Data: make([]byte, keepMin), Owner: &kept})
	}
	if n := es[0].Poll(); n != 2 || len(keeper.ends) != 2 || kept.sent > 0 {
		t.Errorf("a poll did %d; %d are kept, %d have ended", n, len(keeper.ends), kept.sent)
	}
	if n := es[0].Poll(); n != 0 {
		t.Errorf("a poll with nothing to do did %d", n)
	}
	keeper.may = true
	es[0].PutBulk(1, &Bulk{Data: make([]byte, keepMin-1), Owner: &copied})
	es[0].PutBulk(1, &Bulk{Data: make([]byte, keepMin), Owner: &copied, Stay: true})
	if n := es[0].Poll(); n != 4 || kept != (ends{sent: 2}) || copied != (ends{sent: 2}) {
		t.Errorf("a poll that sends two and ends two did %d; ends %+v and %+v", n, kept, copied)
	}
}

// TestWhichLongsAreSplit: a Long that fits a record travels in it, unless the endpoint is told to split them. One
// without payload has nothing to split.
func TestWhichLongsAreSplit(t *testing.T) {
	for _, split := range []bool{false, true} {
		es := endpoints(t, 2, variants[0], Config{SplitLongs: split})
		seg := make([]byte, 64<<10)
		es[1].SetSegment(seg)
		ran := 0
		register(t, es, 1, Spec{Name: "long", MaxReply: NoReply, Run: func(_ *Token, a []uint64, p []byte) {
			if len(p) != int(a[0]) || sum(nil, p) != a[1] {
				t.Errorf("a Long of %d bytes came damaged, with %d", a[0], len(p))
			}
			ran++
		}})
		most := es[0].MaxMedium() - argBytes
		for i, x := range []struct {
			size  int
			split bool
		}{{0, false}, {1, split}, {most - 1, split}, {most, split}, {most + 1, true}, {20_000, true}} {
			before := es[0].longID.Load()
			p := fill(x.size, i)
			sent := make(chan error)
			go func() { sent <- es[0].RequestLong(1, 1, p, 3, uint64(x.size), sum(nil, p)) }()
			if err := <-sent; err != nil {
				t.Fatal(err)
			}
			for ran == i {
				es[1].Poll()
				es[0].Poll()
			}
			if got := es[0].longID.Load() - before; got == 1 != x.split {
				t.Errorf("a Long of %d bytes, split all %v: %d were split, want %v", x.size, split, got, x.split)
			}
		}
		halvesLeft(t, es...)
	}
}
