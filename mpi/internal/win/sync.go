package win

import (
	"slices"
	"sync/atomic"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi/internal/epoch"
)

// notice is what ranks of a window tell each other.
type notice uint64

const (
	gotLock    notice = iota // answers wantLock
	hasPosted                // the rank lets me access its memory
	hasEnded                 // the rank has completed its accesses to my memory
	wantLock                 // the kind of lock
	gaveLock                 // the lock is released
	hasCounted               // the rank has counted a notice, in memory
)

// lockState says which ranks hold the lock of a rank's memory, and which wait. First come, first served.
type lockState struct {
	exclusive bool
	holders   int
	queue     []claim
}

type claim struct {
	rank      int
	exclusive bool
}

// nextHolder takes the first of the queue that gets the lock; false if nobody does.
func (l *lockState) nextHolder() (rank int, ok bool) {
	if len(l.queue) == 0 {
		return 0, false
	}
	c := l.queue[0]
	if l.exclusive || c.exclusive && l.holders > 0 {
		return 0, false
	}
	l.queue = l.queue[1:]
	l.exclusive = c.exclusive
	l.holders++
	return c.rank, true
}

// releaseHolder gives one holder's lock back.
func (l *lockState) releaseHolder() {
	if l.holders > 0 {
		l.holders--
	}
	l.exclusive = false
}

// tellRank has a rank hear a notice, this one too.
func (w *Window) tellRank(rank int, what notice, arg uint64) {
	if rank == w.self {
		w.noticed(rank, what, arg, nil)
		return
	}
	w.c.TellWindow(rank, uint64(what), arg)
}

// countNotice tells a rank that this one has posted or ended. Where it reaches the counts of that rank, it adds to
// them. Then it sends a message only if somebody there waits. A rank that is going to wait says so, and then looks at
// its counts once more: one of the two sees the other.
func (w *Window) countNotice(rank int, what notice) {
	if w.mapped == nil || w.mapped[rank].counts == nil {
		w.tellRank(rank, what, 0)
		return
	}
	n := &w.mapped[rank]
	n.counts[w.self][what].Add(1)
	if n.asleep.Load() != 0 {
		w.tellRank(rank, hasCounted, 0)
	}
}

// setAsleep says whether somebody waits, for ranks that count. mu is held.
func (w *Window) setAsleep() {
	if w.mapped == nil {
		return
	}
	asleep := uint32(min(len(w.waiters), 1))
	if word := w.mapped[w.self].asleep; word.Load() != asleep {
		word.Store(asleep)
	}
}

// noticed takes a notice in. The poller calls it, or a rank that notifies itself.
func (w *Window) noticed(from int, what notice, arg uint64, worker *fult.Worker) {
	back := false
	w.mu.Lock()
	switch what {
	case wantLock:
		w.lock.queue = append(w.lock.queue, claim{from, epoch.LockType(arg) == epoch.Exclusive})
	case gaveLock:
		w.lock.releaseHolder()
	case gotLock:
		back = !w.grantLock(from)
	case hasPosted, hasEnded:
		w.counts[from][what].Add(1)
	}
	var lucky []int
	for rank, ok := w.lock.nextHolder(); ok; rank, ok = w.lock.nextHolder() {
		if rank == w.self {
			if !w.grantLock(rank) {
				w.lock.releaseHolder()
			}
			continue
		}
		lucky = append(lucky, rank)
	}
	ready := w.readyWaiters()
	w.mu.Unlock()
	for _, rank := range lucky {
		w.tellRank(rank, gotLock, 0)
	}
	if back {
		w.tellRank(from, gaveLock, 0)
	}
	for _, x := range ready {
		w.c.EndWait(x.req, worker)
	}
}

// grantLock counts a lock of a rank that has come; false if nobody waits for it any more. mu is held.
func (w *Window) grantLock(rank int) bool {
	if w.forfeited[rank] > 0 {
		w.forfeited[rank]--
		return false
	}
	w.counts[rank][gotLock].Add(1)
	return true
}

// waiter waits for a notice from each of some ranks. It uses them up.
type waiter struct {
	req   comm.Req
	what  notice
	ranks []int
}

// readyWaiters takes the waiters out whose time has come. mu is held.
func (w *Window) readyWaiters() (out []*waiter) {
	left := w.waiters[:0]
	for _, x := range w.waiters {
		if w.takeNotices(x.what, x.ranks) {
			out = append(out, x)
		} else {
			left = append(left, x)
		}
	}
	clear(w.waiters[len(left):])
	w.waiters = left
	w.setAsleep()
	return out
}

// awaitNotices waits until a notice has come from each of ranks, and uses them up, for the function what.
func (w *Window) awaitNotices(what string, kind notice, ranks []int) error {
	w.c.Srv.PollInTurn()
	if w.spinForNotices(kind, ranks) {
		return nil
	}
	x := &waiter{req: w.c.NewWait(what), what: kind, ranks: ranks}
	w.mu.Lock()
	w.waiters = append(w.waiters, x)
	w.setAsleep()
	ready := w.readyWaiters() // what has been counted before this rank said that it waits
	w.mu.Unlock()
	for _, r := range ready {
		w.c.EndWait(r.req, nil)
	}
	err := w.c.AwaitWait(x.req)
	if err == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.waiters, x)
	if i < 0 { // what it waits for came just now, and has been used up
		return nil
	}
	w.waiters = slices.Delete(w.waiters, i, i+1)
	w.setAsleep()
	return err
}

// spinForNotices is awaitNotices for a short time. It looks at the first count that lacks a notice, and then at the
// others.
func (w *Window) spinForNotices(kind notice, ranks []int) bool {
	var count *atomic.Uint64
	var used uint64
	come := func() bool {
		if count != nil && count.Load() == used {
			return false
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if i := w.firstLacking(kind, ranks); i >= 0 {
			count, used = &w.counts[ranks[i]][kind], w.usedUp[ranks[i]][kind]
			return false
		}
		w.useNotices(kind, ranks)
		return true
	}
	return come() || w.c.Srv.LingerUntil(come, &w.never)
}

// firstLacking is the place of the first of ranks from which no notice has come that is not used up; -1: none. mu is
// held.
func (w *Window) firstLacking(kind notice, ranks []int) int {
	for i, r := range ranks {
		if w.counts[r][kind].Load() == w.usedUp[r][kind] {
			return i
		}
	}
	return -1
}

// takeNotices tells whether a notice has come from each of ranks, and uses them up then. mu is held.
func (w *Window) takeNotices(kind notice, ranks []int) bool {
	if w.firstLacking(kind, ranks) >= 0 {
		return false
	}
	w.useNotices(kind, ranks)
	return true
}

// useNotices uses up a notice from each of ranks. mu is held.
func (w *Window) useNotices(kind notice, ranks []int) {
	for _, r := range ranks {
		w.usedUp[r][kind]++
	}
}
