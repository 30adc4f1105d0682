package am

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/credit"
)

// terms of a small job: what a rank needs beyond its first loan comes from the bank, and then from others.
func terms(bank int) credit.Config {
	c := credit.Terms(4, 1024)
	c.PerPeer, c.Min, c.Bank, c.Max, c.Epoch = 6, 4, bank, 100, 64
	return c
}

func overWords(t *testing.T, f func(t *testing.T, v variant)) {
	for _, v := range []variant{{name: "words"}, {name: "bare", bare: true}, {name: "mixed", make: mixedBare}} {
		v.cfg = conduit.Config{Loan: 100, MaxRecord: 1024}
		t.Run(v.name, func(t *testing.T) { f(t, v) })
	}
}

// agree waits until every pair's two halves say the same and every ledger is in order.
func agree(t *testing.T, es []*Endpoint) {
	t.Helper()
	var why error
	eventually(t, "lenders and borrowers to agree", func() bool {
		why = differ(es)
		return why == nil
	})
	if why != nil {
		t.Error(why)
	}
}

func differ(es []*Endpoint) error {
	reps := make([]CreditReport, len(es))
	for i, e := range es {
		if err := e.CheckCredits(); err != nil {
			return fmt.Errorf("rank %d: %w", i, err)
		}
		reps[i] = e.Credits()
	}
	for i := range es {
		for j := range es {
			lent, has := reps[i].Peers[j].Lent.Loan, reps[j].Peers[i].Borrowed.Loan
			if i != j && lent != has {
				return fmt.Errorf("rank %d lent %d credits to rank %d, which has %d", i, lent, j, has)
			}
		}
	}
	return nil
}

// flood sends n Mediums of 860 bytes, each 4 credits, from every rank of from to rank to, from several goroutines.
func flood(t *testing.T, es []*Endpoint, from []int, to, n int) {
	t.Helper()
	var wg sync.WaitGroup
	for _, src := range from {
		for range 4 {
			wg.Go(func() {
				p := make([]byte, 860)
				for k := range n / 4 {
					if err := es[src].RequestMedium(to, 1, p, uint64(k)); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
}

// counting makes n endpoints that are polled until the test ends, and count the requests to handler 1.
func counting(t *testing.T, n int, v variant, cfg Config) ([]*Endpoint, *atomic.Int64) {
	t.Helper()
	es := endpoints(t, n, v, cfg)
	got := new(atomic.Int64)
	register(t, es, 1, Spec{Name: "count", MaxReply: NoReply, Run: func(*Token, []uint64, []byte) { got.Add(1) }})
	t.Cleanup(attend(es...))
	return es, got
}

func TestCreditsMigrate(t *testing.T) {
	overWords(t, func(t *testing.T, v variant) {
		es, got := counting(t, 4, v, Config{Credits: terms(120)})
		agree(t, es)
		if n := es[1].Credits().Stats.Granted; n != 0 {
			t.Errorf("%d credits moved without demand", n)
		}
		const n = 4000
		flood(t, es, []int{0}, 1, n)
		eventually(t, "the first flood", func() bool { return got.Load() == n })
		agree(t, es)
		first := es[1].Credits()
		if first.Peers[0].Lent.Loan <= 6 {
			t.Errorf("a flood left a loan of %d credits", first.Peers[0].Lent.Loan)
		}
		if first.Peers[2].Lent.Loan > 6 {
			t.Errorf("a silent peer has %d credits", first.Peers[2].Lent.Loan)
		}
		flood(t, es, []int{2, 3}, 1, n)
		eventually(t, "the second flood", func() bool { return got.Load() == 3*n })
		agree(t, es)
		second := es[1].Credits()
		if second.Stats.Granted <= first.Stats.Granted {
			t.Errorf("new senders got nothing: %+v", second.Stats)
		}
	})
}

// TestRevokedCreditsComeBack has a bank that one flood empties, so that the next sender's credits must be taken from
// the first.
func TestRevokedCreditsComeBack(t *testing.T) {
	overWords(t, func(t *testing.T, v variant) {
		es, got := counting(t, 4, v, Config{Credits: terms(30)})
		sent := int64(0)
		for round := range 6 {
			from := []int{0, 2, 3}[round%3]
			flood(t, es, []int{from}, 1, 3000)
			sent += 3000
			eventually(t, "a flood", func() bool { return got.Load() == sent })
			agree(t, es)
		}
		if s := es[1].Credits().Stats; s.Revokes == 0 || s.Returned == 0 {
			t.Errorf("no credits came back: %+v", s)
		}
	})
}

// TestRandomFloods has everybody flood everybody, with pauses in which nobody polls.
func TestRandomFloods(t *testing.T) {
	overWords(t, func(t *testing.T, v variant) {
		es, got := counting(t, 4, v, Config{Credits: terms(40)})
		var wg sync.WaitGroup
		const n = 800
		for to := range es {
			from := make([]int, 0, 3)
			for i := range es {
				if i != to {
					from = append(from, i)
				}
			}
			wg.Go(func() {
				time.Sleep(time.Duration(to) * time.Millisecond)
				flood(t, es, from, to, n)
			})
		}
		wg.Wait()
		eventually(t, "all floods", func() bool { return got.Load() == 12*n })
		agree(t, es)
	})
}

func TestHintBorrowsBeforehand(t *testing.T) {
	overWords(t, func(t *testing.T, v variant) {
		es := endpoints(t, 4, v, Config{Credits: terms(120)})
		for i := range es {
			defer attend(es[i])()
		}
		es[0].Hint(30, 1, 0, -1, len(es), 99)
		eventually(t, "the loan", func() bool { return es[0].Credits().Peers[1].Borrowed.Loan >= 30 })
		agree(t, es)
		if s := es[0].Credits().Peers[1].Borrowed; s.Stalls != 0 {
			t.Errorf("a hint counted as %d stalls", s.Stalls)
		}
	})
}

func TestNoFlowControlBorrowsNothing(t *testing.T) {
	overWords(t, func(t *testing.T, v variant) {
		c := terms(0)
		c.Mode = credit.NoFlow
		es, got := counting(t, 2, v, Config{Credits: c})
		flood(t, es, []int{0}, 1, 4000)
		eventually(t, "the flood", func() bool { return got.Load() == 4000 })
		if s := es[1].Credits().Stats; s.Needs != 0 || s.Granted != 0 {
			t.Errorf("credits moved: %+v", s)
		}
	})
}

func TestCallsInHandlersAreRefused(t *testing.T) {
	es := endpoints(t, 2, variant{}, Config{Fatal: func(error) {}})
	var errs []error
	var ran atomic.Bool
	register(t, es, 1, Spec{Name: "misuse", MaxReply: 0, Run: func(k *Token, _ []uint64, _ []byte) {
		e := k.e
		errs = append(errs, e.RequestShort(0, 3), e.RequestMedium(0, 3, nil), e.RequestLong(0, 3, make([]byte, 4096), 0),
			e.Allow(CallWait))
		if n := e.Poll(); n != 0 {
			t.Errorf("a poll in a handler did %d", n)
		}
		errs = append(errs, e.Err())
		if err := k.ReplyShort(2); err != nil {
			t.Error(err)
		}
		if err := k.ReplyShort(2); !errors.Is(err, ErrReply) {
			t.Errorf("second reply: %v", err)
		}
	}})
	register(t, es, 2, Spec{Name: "reply", MaxReply: NoReply, Run: func(k *Token, _ []uint64, _ []byte) {
		if err := k.ReplyShort(2); !errors.Is(err, ErrReply) {
			t.Errorf("reply to a reply: %v", err)
		}
		if err := k.e.RequestShort(1, 3); !errors.Is(err, ErrContext) {
			t.Errorf("request in a reply handler: %v", err)
		}
		ran.Store(true)
	}})
	register(t, es, 3, Spec{Name: "none", MaxReply: NoReply, Run: func(*Token, []uint64, []byte) {
		t.Error("a refused request was sent")
	}})
	if err := es[0].RequestShort(1, 1); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the reply", func() bool { es[1].Poll(); es[0].Poll(); return ran.Load() })
	for range 100 {
		es[0].Poll()
		es[1].Poll()
	}
	for i, err := range errs {
		if !errors.Is(err, ErrContext) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestSendersAreWholeLines(t *testing.T) {
	if s := unsafe.Sizeof(sender{}); s%64 != 0 {
		t.Errorf("a lane takes %d bytes", s)
	}
}
