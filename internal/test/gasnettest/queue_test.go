package gasnettest

import (
	"fmt"
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
	queueReplies  = 50 / raceSlower
	pollsOfNobody = 2000
)

// TestQueue is testqueue: requests wait for room for large replies. Senders to a rank that does not poll are tested in
// am.
func TestQueue(t *testing.T) {
	overAll(t, func(t *testing.T, net network) {
		spmd(t, net, 2, options{loan: smallLoan}, newQueued, func(r *rank, q *queued) error {
			if r.id == 1 {
				return nil
			}
			return largeReplies(r, q)
		})
	})
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
