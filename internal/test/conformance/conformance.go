// Package conformance tests that a conduit keeps the contract of package conduit. Every conduit and every wrapper runs
// the whole suite, also with queues of two records.
package conformance

import (
	"fmt"
	"slices"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
)

// Factory makes the conduits of n ranks. It registers with t whatever must be taken down; Run closes the conduits.
type Factory func(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit

// alone is the test that counts the allocations of the process, so that no other may run beside it.
const alone = "NoAllocation"

// cases is the suite. Each runs on fresh conduits of the given number of ranks.
var cases = []struct {
	name  string
	ranks int
	run   func(t suite, cs []conduit.Conduit)
}{
	{"Identity", 3, testIdentity},
	{"Sizes", 2, testSizes},
	{"Self", 1, testSelf},
	{"AllPairs", 4, testAllPairs},
	{"Wrap", 2, testWrap},
	{"ReserveAgain", 2, testReserveAgain},
	{"BadArguments", 2, testBadArguments},
	{"RetryHasNoEffect", 2, testRetryHasNoEffect},
	{"LoanIsRoom", 2, testLoanIsRoom},
	{"ReplyHasRoom", 2, testReplyHasRoom},
	{"Budget", 2, testBudget},
	{"Fairness", 4, testFairness},
	{"Bulk", 2, testBulk},
	{"BulkReserved", 2, testBulkReserved},
	{"BulkBesideRecords", 3, testBulkBesideRecords},
	{"BulkTurnsWithRecords", 2, testBulkTurns},
	{"BulkKept", 2, testBulkKept},
	{"BulkKeptWakes", 2, testBulkKeptWakes},
	{"BulkKeptClose", 2, testBulkKeptClose},
	{"BulkKeptPeerGone", 2, testBulkKeptPeerGone},
	{"CreditWords", 3, testCreditWords},
	{"SleepTimesOut", 1, testSleepTimesOut},
	{"SleepSeesReady", 1, testSleepSeesReady},
	{"SleepBesideReserved", 2, testSleepBesideReserved},
	{"SleepWakes", 2, testSleepWakes},
	{"NoLostWakeUp", 2, testNoLostWakeUp},
	{"WakeFromOutside", 1, testWakeFromOutside},
	{"OneSleeper", 1, testOneSleeper},
	{"CloseWhileAsleep", 2, testCloseWhileAsleep},
	{"ClosedPeer", 2, testClosedPeer},
	{"Gone", 4, testGone},
	{"GoneUnderFlood", 3, testGoneUnderFlood},
	{"GoneWakes", 2, testGoneWakes},
	{"GoneAtOwnClose", 2, testGoneAtOwnClose},
	{alone, 2, testNoAllocation},
	{"RemoteBytes", 2, testRemoteBytes},
	{"RemoteBounds", 2, testRemoteBounds},
	{"RemoteRelease", 2, testRemoteRelease},
	{"RemoteMany", 2, testRemoteMany},
	{"RemoteSleeper", 2, testRemoteSleeper},
	{"RemoteClose", 2, testRemoteClose},
	{"RemotePeerGone", 2, testRemotePeerGone},
	{"RemoteMap", 2, testRemoteMap},
}

// Variants are the configurations that the suite is run with.
var Variants = []struct {
	Name string
	Cfg  conduit.Config
	// underRace: the race detector is slow and gets these only. Together they have short queues and long ones, a scan and
	// a vector, and bulk data in many chunks.
	underRace bool
}{
	{"default", conduit.Config{}, false},
	{"vector", conduit.Config{ScanLimit: -1}, false},
	{"small", conduit.Config{Loan: 16, MaxRecord: 1000, ReplySpace: 100, BulkChunk: 1000, BulkSlots: 3}, true},
	{"tiny", conduit.Config{TinyQueues: true, MaxRecord: 600, BulkChunk: 100}, false},
	{"tinyvector", conduit.Config{TinyQueues: true, ScanLimit: -1}, true},
	{"nobulk", conduit.Config{BulkChunk: -1}, false},
}

// suite is a test of it, with how much shorter than usual it is.
type suite struct {
	*testing.T
	slow int
}

// Run runs the suite on the conduits that factory makes, in every variant.
func Run(t *testing.T, factory Factory) { run(t, 1, false, factory, nil) }

// RunSlow is Run with as many times fewer rounds where a test repeats something, for conduits over which a message
// takes long: a network that loses some. The tests of a variant run beside each other, since they wait most of the
// time. It runs the named variants, or all without a name. Under the race detector it runs those that are for it.
func RunSlow(t *testing.T, slow int, factory Factory, variants ...string) {
	run(t, slow, true, factory, variants)
}

func run(t *testing.T, slow int, beside bool, factory Factory, variants []string) {
	for _, v := range Variants {
		if !invariants.Race && len(variants) > 0 && !slices.Contains(variants, v.Name) {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			if invariants.Race && !v.underRace {
				t.Skip("two variants have to do under the race detector, which is slow; all run without it")
			}
			for _, c := range cases {
				t.Run(c.name, func(t *testing.T) {
					if beside && c.name != alone {
						t.Parallel()
					}
					cs := factory(t, c.ranks, v.Cfg)
					t.Cleanup(func() { closeAll(t, cs) })
					c.run(suite{t, slow}, cs)
				})
			}
		})
	}
}

func closeAll(t testing.TB, cs []conduit.Conduit) {
	for _, c := range cs {
		checkClose(t, c)
	}
}

func testIdentity(t suite, cs []conduit.Conduit) {
	for i, c := range cs {
		if c.Rank() != i || c.Size() != len(cs) {
			t.Errorf("conduit %d says rank %d of %d", i, c.Rank(), c.Size())
		}
		caps := c.Caps()
		if caps.Name == "" || caps.MaxRecord < 64 || caps != cs[0].Caps() {
			t.Errorf("rank %d: caps %+v, rank 0 has %+v", i, caps, cs[0].Caps())
		}
		for p := range cs {
			if err := c.Failed(p); err != nil {
				t.Errorf("rank %d: Failed(%d) = %v", i, p, err)
			}
		}
		if c.Pending() {
			t.Errorf("rank %d has something pending from the start", i)
		}
		if n := c.Poll(10, &sink{t: t}); n != 0 {
			t.Errorf("rank %d polled %d from nowhere", i, n)
		}
	}
}

func testBadArguments(t suite, cs []conduit.Conduit) {
	c := cs[0]
	tooLong := c.Caps().MaxRecord + 1
	for _, b := range []struct{ peer, n int }{
		{-1, 64},
		{len(cs), 64},
		{1 << 40, 64},
		{1, 0},
		{1, 7},
		{1, -8},
		{1, tooLong},
		{1, 1 << 62},
	} {
		t.Run(fmt.Sprintf("peer=%d/n=%d", b.peer, b.n), func(t *testing.T) {
			if space, st := c.Reserve(b.peer, conduit.Request, b.n); st != conduit.Dead || space != nil {
				t.Errorf("Reserve: %v, %d bytes", st, len(space))
			}
			if b.peer >= 0 && b.peer < len(cs) {
				return
			}
			if l, ok := c.(conduit.Injector); ok && l.Inject(b.peer, 24, 0, 0, nil) {
				t.Error("Inject to no rank")
			}
			c.Commit(b.peer, 8)
			if n, _ := c.BulkSend(b.peer, 1, 0, make([]byte, 8), nil); n != -1 {
				t.Errorf("BulkSend: %d", n)
			}
			if c.Mine(b.peer) != nil || c.Theirs(b.peer) != nil {
				t.Error("a credit word for nobody")
			}
			if c.Failed(b.peer) == nil {
				t.Error("Failed says that the peer is there")
			}
		})
	}
	// A commit without a reservation, or of a length that was not reserved, publishes nothing.
	c.Commit(1, 64)
	st := conduit.Retry
	for try := 0; st == conduit.Retry && try < 50; try++ { // a fault wrapper refuses at random
		_, st = c.Reserve(1, conduit.Request, 8)
	}
	if st != conduit.OK {
		t.Fatalf("Reserve: %v", st)
	}
	c.Commit(1, 0)
	c.Commit(1, 4096)
	if n := cs[1].Poll(10, &sink{t: t}); n != 0 {
		t.Errorf("%d records of nothing", n)
	}
}
