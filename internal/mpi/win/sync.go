package win

import (
	"slices"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/mpi/pure/epoch"
)

// notice is what ranks of a window tell each other.
type notice uint64

const (
	wantLock  notice = iota // the kind of lock
	gotLock                 // answers wantLock
	gaveLock                // the lock is released
	hasPosted               // the rank lets me access its memory
	hasEnded                // the rank has completed its accesses to my memory
)

// lockState is who holds the lock of a rank's memory, and who waits. First come, first served.
type lockState struct {
	exclusive bool
	holders   int
	queue     []claim
}

type claim struct {
	rank      int
	exclusive bool
}

// next takes the first of the queue that gets the lock; false if nobody does.
func (l *lockState) next() (rank int, ok bool) {
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

// release gives one holder's lock back.
func (l *lockState) release() {
	if l.holders > 0 {
		l.holders--
	}
	l.exclusive = false
}

// tell has a rank hear a notice, this one too.
func (w *Window) tell(rank int, what notice, arg uint64) {
	if rank == w.self {
		w.noticed(rank, what, arg, nil)
		return
	}
	w.c.TellWindow(rank, uint64(what), arg)
}

// noticed hears a notice. The poller calls it, or who tells itself.
func (w *Window) noticed(from int, what notice, arg uint64, worker *fult.Worker) {
	back := false
	w.mu.Lock()
	switch what {
	case wantLock:
		w.lock.queue = append(w.lock.queue, claim{from, epoch.LockType(arg) == epoch.Exclusive})
	case gaveLock:
		w.lock.release()
	case gotLock:
		back = !w.grant(from)
	case hasPosted:
		w.posted[from]++
	case hasEnded:
		w.arrived[from]++
	}
	var lucky []int
	for rank, ok := w.lock.next(); ok; rank, ok = w.lock.next() {
		if rank == w.self {
			if !w.grant(rank) {
				w.lock.release()
			}
			continue
		}
		lucky = append(lucky, rank)
	}
	ready := w.ready()
	w.mu.Unlock()
	for _, rank := range lucky {
		w.tell(rank, gotLock, 0)
	}
	if back {
		w.tell(from, gaveLock, 0)
	}
	for _, x := range ready {
		w.c.EndWait(x.req, worker)
	}
}

// grant counts a lock of a rank that has come; false if nobody waits for it any more. mu is held.
func (w *Window) grant(rank int) bool {
	if w.forfeited[rank] > 0 {
		w.forfeited[rank]--
		return false
	}
	w.granted[rank]++
	return true
}

// waiter waits for something that notices bring.
type waiter struct {
	req comm.Req
	ok  func() bool // under mu; it uses up what it finds
}

// ready takes the waiters out whose time has come. mu is held.
func (w *Window) ready() (out []*waiter) {
	left := w.waiters[:0]
	for _, x := range w.waiters {
		if x.ok() {
			out = append(out, x)
		} else {
			left = append(left, x)
		}
	}
	clear(w.waiters[len(left):])
	w.waiters = left
	return out
}

// await waits until ok, which is called with mu held and uses up what it finds, for the function what.
func (w *Window) await(what string, ok func() bool) error {
	w.c.Srv.PollInTurn()
	w.mu.Lock()
	if ok() {
		w.mu.Unlock()
		return nil
	}
	x := &waiter{req: w.c.NewWait(what), ok: ok}
	w.waiters = append(w.waiters, x)
	w.mu.Unlock()
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
	return err
}

// takeAll tells whether each of ranks has one of counts, and takes it then.
func takeAll(counts, ranks []int) bool {
	for _, r := range ranks {
		if counts[r] == 0 {
			return false
		}
	}
	for _, r := range ranks {
		counts[r]--
	}
	return true
}
