package win

import (
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/mpi/pure/epoch"
	"github.com/golci/golci/internal/progress"
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
	w.mu.Lock()
	switch what {
	case wantLock:
		w.lock.queue = append(w.lock.queue, claim{from, epoch.LockType(arg) == epoch.Exclusive})
	case gaveLock:
		w.lock.release()
	case gotLock:
		w.granted[from]++
	case hasPosted:
		w.posted[from]++
	case hasEnded:
		w.arrived[from]++
	}
	var lucky []int
	for rank, ok := w.lock.next(); ok; rank, ok = w.lock.next() {
		if rank == w.self {
			w.granted[rank]++
			continue
		}
		lucky = append(lucky, rank)
	}
	ready := w.ready()
	w.mu.Unlock()
	for _, rank := range lucky {
		w.tell(rank, gotLock, 0)
	}
	for _, x := range ready {
		x.done.Complete(worker)
	}
}

// waiter waits for something that notices bring.
type waiter struct {
	done progress.Done
	ok   func() bool // under mu; it uses up what it finds
}

// ready takes the waiters out whose time has come. mu is held.
func (w *Window) ready() (out []*waiter) {
	left := w.waiters[:0]
	for _, x := range w.waiters {
		if w.ended != nil || x.ok() {
			out = append(out, x)
		} else {
			left = append(left, x)
		}
	}
	clear(w.waiters[len(left):])
	w.waiters = left
	return out
}

// await waits until ok, which is called with mu held and uses up what it finds.
func (w *Window) await(ok func() bool) error {
	w.c.Srv.PollInTurn()
	w.mu.Lock()
	if w.ended != nil || ok() {
		defer w.mu.Unlock()
		return w.ended
	}
	x := &waiter{ok: ok}
	w.s.prog.Begin(&x.done)
	w.waiters = append(w.waiters, x)
	w.mu.Unlock()
	w.s.prog.Wait(&x.done)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended
}

// end ends what waits.
func (w *Window) end(err error) {
	w.mu.Lock()
	w.ended = err
	ready := w.ready()
	w.mu.Unlock()
	for _, x := range ready {
		x.done.Complete(nil)
	}
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
