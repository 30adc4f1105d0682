package am

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestUrgentPassesWhatIsQueued: an urgent message leaves though requests to the peer wait for credits, and is handled
// before them.
func TestUrgentPassesWhatIsQueued(t *testing.T) {
	const loan, queued = 4, 20
	for _, v := range variants {
		if v.cfg.TinyQueues {
			continue // these have no room for it either
		}
		t.Run(v.name, func(t *testing.T) {
			es := endpoints(t, 2, v, Config{Loan: loan})
			var came []uint64
			register(t, es, 1, Spec{Name: "take", MaxReply: NoReply, Run: func(_ *Token, args []uint64, _ []byte) {
				came = append(came, args[0])
			}})
			register(t, es, 2, Spec{Name: "urgent", Run: func(_ *Token, args []uint64, _ []byte) { came = append(came, args[0]) }})
			sent := make(chan error, loan+queued)
			for i := range uint64(loan + queued) {
				go func() { sent <- es[0].RequestShort(1, 1, i) }()
			}
			eventually(t, "requests in the queue", func() bool { return queuedTo(es[0], 1) == queued })
			for i := range uint64(3) {
				if err := es[0].RequestUrgent(1, 2, 100+i, 7); err != nil { // it would wait for ever
					t.Fatal(err)
				}
			}
			eventually(t, "all of it", func() bool {
				es[1].Poll()
				es[0].Poll()
				return len(came) == loan+queued+3
			})
			for range loan + queued {
				if err := <-sent; err != nil {
					t.Error(err)
				}
			}
			for i, serial := range came {
				if serial >= 100 && i >= loan+3 && !strings.Contains(v.name, "bad") { // what is lost comes later
					t.Errorf("urgent message %d came behind %d others, %d of which were queued", serial-100, i, i-loan)
				}
			}
		})
	}
}

// TestUrgentIsBounded: the space for replies bounds how many urgent messages are under way. Further ones wait in their
// order, and fail with the peer.
func TestUrgentIsBounded(t *testing.T) {
	es := endpoints(t, 2, variants[0], Config{ReplySpace: 3 * replyBytes(0)})
	var came []uint64
	register(t, es, 2, Spec{Name: "urgent", Run: func(_ *Token, args []uint64, _ []byte) { came = append(came, args[0]) }})
	const all = 10
	done := make(chan error)
	go func() {
		for i := range uint64(all) {
			if err := es[0].RequestUrgent(1, 2, i); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	eventually(t, "one that waits", func() bool {
		ln := es[0].senderOf(1)
		ln.mu.Lock()
		defer ln.mu.Unlock()
		return ln.urgentQueue.head != nil && int(ln.replies) == 3*replyBytes(0)
	})
	eventually(t, "all", func() bool {
		es[1].Poll()
		es[0].Poll()
		return len(came) == all
	})
	if err := <-done; err != nil || !slices.IsSorted(came) {
		t.Errorf("%v, %v", came, err)
	}
	for i := range uint64(3) {
		if err := es[0].RequestUrgent(1, 2, i); err != nil {
			t.Fatal(err)
		}
	}
	go func() { done <- es[0].RequestUrgent(1, 2, 1) }()
	eventually(t, "one that waits", func() bool {
		ln := es[0].senderOf(1)
		ln.mu.Lock()
		defer ln.mu.Unlock()
		return ln.urgentQueue.head != nil
	})
	if err := es[1].c.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	eventually(t, "the end of the one that waits", func() bool {
		es[0].Poll()
		select {
		case err = <-done:
			return true
		default:
			return false
		}
	})
	if !errors.Is(err, ErrPeer) {
		t.Errorf("to a closed peer: %v", err)
	}
	if err := es[0].RequestUrgent(1, 2, 1); !errors.Is(err, ErrPeer) {
		t.Errorf("to a closed peer: %v", err)
	}
}

// TestUrgentToSilentAndOrdered: requests to handlers that never reply are bounded, too. An ordered one gets its number
// when it leaves.
func TestUrgentToSilentAndOrdered(t *testing.T) {
	es := endpoints(t, 2, variants[0], Config{ReplySpace: 2 * replyBytes(NoReply)})
	var seqs []uint16
	var refused error
	register(t, es, 1, Spec{Name: "silent", MaxReply: NoReply, Ordered: true, Run: func(tok *Token, _ []uint64, _ []byte) {
		seqs = append(seqs, tok.Seq())
		refused = tok.ReplyShort(1)
	}})
	for i := range 2 {
		if err := es[0].RequestUrgent(1, 1, uint64(i)); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error)
	go func() { done <- es[0].RequestUrgent(1, 1) }()
	eventually(t, "one that waits", func() bool {
		ln := es[0].senderOf(1)
		ln.mu.Lock()
		defer ln.mu.Unlock()
		return ln.urgentQueue.head != nil && int(ln.replies) == 2*replyBytes(NoReply)
	})
	eventually(t, "all of them, and their space", func() bool {
		es[1].Poll()
		es[0].Poll()
		ln := es[0].senderOf(1)
		ln.mu.Lock()
		defer ln.mu.Unlock()
		return len(seqs) == 3 && ln.replies == 0
	})
	if err := <-done; err != nil || !slices.Equal(seqs, []uint16{0, 1, 2}) || !errors.Is(refused, ErrReply) {
		t.Errorf("%v, numbers %v, a reply gives %v", err, seqs, refused)
	}
	for what, err := range map[error]error{ErrHandler: es[0].RequestUrgent(1, 3), ErrRank: es[0].RequestUrgent(2, 1)} {
		if !errors.Is(err, what) {
			t.Errorf("%v, want %v", err, what)
		}
	}
}
