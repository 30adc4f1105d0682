package gasnettest

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/am"
)

const (
	hCount = 70 + iota
	hBig
	hBigBack
)

// queued is a rank's state in testqueue.
type queued struct {
	got  atomic.Int64 // requests handled
	back atomic.Int64 // large replies
	sent atomic.Int64 // requests whose senders are free again
}

func newQueued(r *rank) *queued {
	q := new(queued)
	max := r.e.MaxMedium()
	r.handle(hCount, am.NoReply, func(*am.Token, []uint64, []byte) { q.got.Add(1) })
	r.handle(hBig, max, func(t *am.Token, a []uint64, _ []byte) {
		r.ok(t.ReplyMedium(hBigBack, fill(make([]byte, a[0]), a[1]), a...))
	})
	r.handle(hBigBack, am.NoReply, func(_ *am.Token, a []uint64, data []byte) {
		if len(data) != int(a[0]) || sum(nil, data) != sum(nil, fill(make([]byte, a[0]), a[1])) {
			r.bad("reply of %d bytes damaged", len(data))
		}
		q.back.Add(1)
	})
	return q
}

const (
	smallLoan     = 40
	queueSenders  = 4
	queueEach     = 100 / raceSlower
	queueReplies  = 50 / raceSlower
	pollsOfNobody = 2000
)

// TestQueue is testqueue: senders to a rank that does not poll stop when their credits have gone, not before, and not
// for good; and requests wait for room for large replies.
func TestQueue(t *testing.T) {
	overAll(t, func(t *testing.T, net network) {
		awake := make(chan struct{}) // rank 1 polls
		spmd(t, net, 2, options{loan: smallLoan}, newQueued, func(r *rank, q *queued) error {
			if r.id == 1 {
				<-awake
				return r.until(func() bool { return q.got.Load() == queueSenders*queueEach })
			}
			err := stalledSenders(r, q, awake)
			if err != nil {
				return err
			}
			return largeReplies(r, q)
		})
	})
}

// stalledSenders has several goroutines send to rank 1 and wakes it only when they cannot go on.
func stalledSenders(r *rank, q *queued, awake chan struct{}) error {
	var wg sync.WaitGroup
	for range queueSenders {
		wg.Go(func() {
			for range queueEach {
				r.ok(r.e.RequestShort(1, hCount))
				q.sent.Add(1)
			}
		})
	}
	for range pollsOfNobody { // the senders go as far as they can
		r.e.Poll()
		runtime.Gosched()
	}
	went := q.sent.Load()
	guaranteed := r.e.Conduit().Caps().Loan > 0
	for guaranteed && went < smallLoan { // they will: the room is theirs
		runtime.Gosched()
		went = q.sent.Load()
	}
	close(awake)
	wg.Wait()
	if went > smallLoan {
		return fmt.Errorf("%d requests went to a rank that does not poll and lent %d credits", went, smallLoan)
	}
	return nil
}

// largeReplies has more and larger replies under way than there is room for.
func largeReplies(r *rank, q *queued) error {
	var wg sync.WaitGroup
	max := r.e.MaxMedium()
	for s := range queueSenders {
		wg.Go(func() {
			for k := range queueReplies {
				size := max - (s*queueReplies+k)%max/2
				r.ok(r.e.RequestShort(1, hBig, uint64(size), uint64(k)))
			}
		})
	}
	wg.Wait()
	return r.until(func() bool { return q.back.Load() == queueSenders*queueReplies })
}

// TestImmediate is testimm at the level of active messages: to send at once or not at all. What is refused has no
// effect, and what was accepted arrives once.
func TestImmediate(t *testing.T) {
	overAll(t, func(t *testing.T, net network) {
		awake := make(chan struct{})
		const all = 500
		spmd(t, net, 2, options{loan: smallLoan}, newQueued, func(r *rank, q *queued) error {
			if r.id == 1 {
				<-awake
				return r.until(func() bool { return q.got.Load() == all })
			}
			went := 0
			for range pollsOfNobody {
				went += immediate(r, 1)
			}
			close(awake)
			if went > smallLoan || went == 0 {
				return fmt.Errorf("%d immediate requests went on %d credits", went, smallLoan)
			}
			if loan := r.e.Conduit().Caps().Loan; loan >= smallLoan && went != smallLoan {
				return fmt.Errorf("only %d of %d immediate requests went at once", went, smallLoan)
			}
			return r.until(func() bool {
				if went < all {
					went += immediate(r, 1)
				}
				return went == all
			})
		})
	})
}

// immediate sends a request if it can go now, and returns how many went.
func immediate(r *rank, dst int) int {
	_, first, o := r.e.Open(dst, hCount, 0, 0)
	switch o {
	case am.Opened:
		r.e.Commit(dst, first)
		return 1
	case am.Stalled:
		r.e.Abandon(dst)
	case am.Failed:
		r.bad("rank %d is gone", dst)
	}
	return 0
}
