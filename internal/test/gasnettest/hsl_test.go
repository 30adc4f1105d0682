package gasnettest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/golci/golci/am"
	"github.com/golci/golci/am/hsl"
)

const (
	hLocked = 90 + iota
	hLockedBack
)

// locker is a rank's state in testhsl.
type locker struct {
	requests, replies *hsl.Lock
	served            int // guarded by requests
	back              int // guarded by replies
}

func newLocker(r *rank) *locker {
	x := &locker{requests: r.locks.New("requests"), replies: r.locks.New("replies")}
	r.handle(hLocked, 0, func(t *am.Token, _ []uint64, _ []byte) {
		r.ok(within(x.requests, func() { x.served++ }))
		r.ok(t.ReplyShort(hLockedBack))
	})
	r.handle(hLockedBack, am.NoReply, func(*am.Token, []uint64, []byte) {
		r.ok(within(x.replies, func() { x.back++ }))
	})
	return x
}

// within runs f while holding l.
func within(l *hsl.Lock, f func()) error {
	if err := l.Lock(); err != nil {
		return err
	}
	f()
	return l.Unlock()
}

// tryWithin is within that takes l by TryLock.
func tryWithin(l *hsl.Lock, f func()) error {
	for {
		got, err := l.TryLock()
		if err != nil {
			return err
		}
		if got {
			f()
			return l.Unlock()
		}
	}
}

const (
	lockers  = 4 // goroutines of a rank
	lockEach = 150
)

// TestHSL is testhsl, its legal part. Handlers of requests and of replies and threads take the same locks, by Lock and
// TryLock. Nothing that the locks guard is lost. In one half of the runs rules are checked.
func TestHSL(t *testing.T) {
	overAll(t, func(t *testing.T, net network) {
		for _, checked := range []bool{false, true} {
			spmd(t, net, 2, options{checked: checked}, newLocker, legalLocks)
		}
	})
}

func legalLocks(r *rank, x *locker) error {
	var wg sync.WaitGroup
	for id := range lockers {
		wg.Go(func() {
			for k := range lockEach {
				r.ok(r.e.RequestShort(r.next(), hLocked))
				take := within
				if (k+id)%2 == 0 {
					take = tryWithin
				}
				r.ok(take(x.requests, func() { x.served++ }))
			}
		})
	}
	wg.Wait()
	back, served := 0, 0
	if err := r.until(func() bool {
		r.ok(within(x.replies, func() { back = x.back }))
		return back >= lockers*lockEach
	}); err != nil {
		return err
	}
	if err := r.barrier(); err != nil {
		return err
	}
	r.ok(within(x.requests, func() { served = x.served }))
	if back != lockers*lockEach || served != 2*lockers*lockEach {
		return fmt.Errorf("%d replies and %d visits, want %d and %d", back, served, lockers*lockEach, 2*lockers*lockEach)
	}
	return r.locks.Close()
}
