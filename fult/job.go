package fult

import (
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/internal/platform/spin"
)

// job is a function that runs as a thread. It lives from Go to the last Join.
type job struct {
	f    func(*Thread)
	next *job // in a queue
	s    *Scheduler

	done   atomic.Bool // publishes err
	joined atomic.Bool
	mu     spin.Lock // guards waiters; held from the end of the count in Scheduler.live until done is set
	err    error
	first  Waiter // the only one, usually
	more   []Waiter
}

// Handle refers to a thread that Go or GoOn has started. The zero Handle refers to none.
type Handle struct{ j *job }

// Go starts f as a thread on any worker. Threads and goroutines may call it. It does not block or switch threads. A
// thread started by a thread runs on the same worker, unless an idle worker takes it first. The error is ErrClosed,
// or wraps ErrTooMany, or ErrArgument for a nil f.
func (s *Scheduler) Go(f func(t *Thread)) (Handle, error) {
	if w := s.reserveOne(); w != nil {
		return s.submitJob(w, f, false)
	}
	return Handle{}, fmt.Errorf("fult: %d threads on %d workers: %w", s.Live(), len(s.workers), ErrTooMany)
}

// GoAll starts n threads, or none: thread i runs f(t, i). They start as with Go, on workers as with Go. It returns
// their handles by number. The error is ErrClosed, or wraps ErrTooMany if not all n may be alive beside those that are,
// or ErrArgument for a nil f or a negative n. With ErrClosed the handles are those of threads that were started before
// Close began. It does not block or switch threads.
func (s *Scheduler) GoAll(n int, f func(t *Thread, i int)) ([]Handle, error) {
	if f == nil || n < 0 {
		return nil, fmt.Errorf("fult: GoAll: %d threads, function %t: %w", n, f != nil, ErrArgument)
	}
	on, err := s.reserveAll(n)
	if err != nil {
		return nil, err
	}
	hs := make([]Handle, 0, n)
	for i, w := range on {
		h, err := s.submitJob(w, func(t *Thread) { f(t, i) }, false)
		if err != nil {
			for _, w := range on[i+1:] {
				w.reserved.Add(-1)
			}
			return hs, err
		}
		hs = append(hs, h)
	}
	return hs, nil
}

// reserveAll reserves slots for n threads and returns the worker of each, or reserves none.
func (s *Scheduler) reserveAll(n int) ([]*Worker, error) {
	var on []*Worker // no room for n before it is known that so many can run
	for len(on) < n {
		w := s.reserveOne()
		if w == nil || raceEnabled && len(on)+s.Live() >= raceThreads {
			if w != nil {
				w.reserved.Add(-1)
			}
			for _, w := range on {
				w.reserved.Add(-1)
			}
			return nil, fmt.Errorf("fult: %d threads beside %d on %d workers: %w", n, s.Live(), len(s.workers), ErrTooMany)
		}
		on = append(on, w)
	}
	return on, nil
}

// reserveOne reserves a slot on the worker of the calling thread, or else on the next one, or on any other.
func (s *Scheduler) reserveOne() *Worker {
	var prefer int
	if t := s.Current(); t != nil {
		prefer = t.w.id
	} else {
		prefer = int(s.next.Add(1)-1) % len(s.workers)
	}
	for i := range s.workers {
		if w := s.workers[(prefer+i)%len(s.workers)]; w.reserveThread() {
			return w
		}
	}
	return nil
}

// GoOn is Go on the worker with that number, counted from 0. The thread stays there. ErrArgument if there is none.
func (s *Scheduler) GoOn(worker int, f func(t *Thread)) (Handle, error) {
	w := s.Worker(worker)
	if w == nil {
		return Handle{}, fmt.Errorf("fult: worker %d of %d: %w", worker, len(s.workers), ErrArgument)
	}
	if !w.reserveThread() {
		return Handle{}, fmt.Errorf("fult: %d threads on worker %d: %w", w.Live(), worker, ErrTooMany)
	}
	return s.submitJob(w, f, true)
}

// submitJob gives f to w, which has reserved a slot for it.
func (s *Scheduler) submitJob(w *Worker, f func(*Thread), stay bool) (Handle, error) {
	if err := s.admissible(f); err != nil {
		w.reserved.Add(-1)
		return Handle{}, err
	}
	j := &job{f: f, s: s}
	if s.cfg.Kind != Fult {
		s.startExternal(w, j)
		return Handle{j}, nil
	}
	w.queue.pushJob(j, stay)
	w.notifyWorker()
	if !stay && s.sleepers.Load() > 0 && w.parked.Load() == awake {
		s.wakeOne()
	}
	return Handle{j}, nil
}

// admissible counts a thread in, if there may be one more.
func (s *Scheduler) admissible(f func(*Thread)) error {
	if f == nil {
		return fmt.Errorf("fult: nil function: %w", ErrArgument)
	}
	if !s.begun.Load() && !s.startWorkers() {
		return ErrClosed
	}
	n := s.live.Add(1)
	switch {
	case s.killing.Load():
		s.live.Add(-1)
		return ErrClosed
	case raceEnabled && n > raceThreads:
		s.live.Add(-1)
		return fmt.Errorf("fult: the race detector allows %d threads: %w", raceThreads, ErrTooMany)
	}
	return nil
}

// reserveThread counts one more thread on w, unless it has all it may have.
func (w *Worker) reserveThread() bool {
	if w.reserved.Add(1) <= int64(w.s.cfg.MaxThreads) {
		return true
	}
	w.reserved.Add(-1)
	return false
}

// completeJob stores the result and wakes all callers of Join. w is the worker of the thread. last: no thread is alive
// any more. The thread is counted out before its end can be seen, so Join never finds it alive.
func (j *job) completeJob(w *Worker, err error) (last bool) {
	j.f = nil
	j.mu.Lock()
	j.err = err
	last = j.s.live.Add(-1) == 0
	j.done.Store(true)
	first, more := j.first, j.more
	j.first, j.more = nil, nil
	j.mu.Unlock()
	if first != nil {
		w.wakeWaiter(first)
	}
	for _, x := range more {
		w.wakeWaiter(x)
	}
	return last
}

// wakeWaiter signals x. It is cheap if x is a thread of w and w is the caller's worker.
func (w *Worker) wakeWaiter(x Waiter) {
	if t, ok := x.(*Thread); ok {
		w.Signal(t)
		return
	}
	x.Signal()
}

// Join waits until the thread has ended. It returns nil if the function returned, a *PanicError if it panicked,
// ErrGoexit if it called runtime.Goexit, and ErrClosed if Close ended it. Any number of callers may join. Join blocks
// a goroutine, and switches threads in a thread of the same scheduler. A thread of another scheduler must use JoinAs.
func (h Handle) Join() error {
	if h.j == nil {
		return fmt.Errorf("fult: Join of no thread: %w", ErrArgument)
	}
	if h.j.done.Load() {
		return h.result()
	}
	return h.JoinAs(h.j.s.Current())
}

// JoinAs is Join for a caller that waits at me. A nil me stands for the calling thread, or else for a plain goroutine.
func (h Handle) JoinAs(me Waiter) error {
	if h.j == nil {
		return fmt.Errorf("fult: Join of no thread: %w", ErrArgument)
	}
	me = orGoroutine(me)
	if h.j.enlistWaiter(me) {
		for !h.j.done.Load() {
			me.Wait()
		}
	}
	return h.result()
}

// Done tells whether the thread has ended. It does not block or switch threads.
func (h Handle) Done() bool { return h.j == nil || h.j.done.Load() || h.j.hasEnded() }

// hasEnded is done.Load for a caller that may know of the end by Scheduler.live, which goes down first.
func (j *job) hasEnded() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.done.Load()
}

func (h Handle) result() error {
	h.j.joined.Store(true)
	return h.j.err
}

// enlistWaiter adds me to those to be woken; false if the job is done.
func (j *job) enlistWaiter(me Waiter) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.done.Load():
		return false
	case j.first == nil:
		j.first = me
	default:
		j.more = append(j.more, me)
	}
	return true
}
