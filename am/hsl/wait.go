package hsl

import (
	"runtime"
	"time"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/arch"
)

const (
	spins    = 200 // looks before other goroutines may run: the holder may have been preempted
	yields   = 50  // and before the caller sleeps
	firstNap = 5 * time.Microsecond
	lastNap  = time.Millisecond
	looks    = 3 // at a holder that does not run, before that is believed
)

// acquireFor takes l for g, however long that lasts; pc is the caller's place, or 0. Holders run, so Unlock wakes
// nobody.
func (l *Lock) acquireFor(g uint64, pc uintptr) error {
	for n := 0; n < spins+yields; n++ {
		if done, err := l.tryAcquire(g, pc); done {
			return err
		}
		if n < spins {
			arch.Pause()
		} else {
			runtime.Gosched()
		}
	}
	return l.acquireLater(g, pc)
}

// tryAcquire takes l if it is free; done is false if it has to be tried again.
func (l *Lock) tryAcquire(g uint64, pc uintptr) (done bool, err error) {
	switch l.owner.Load() {
	case free:
		return l.owner.CompareAndSwap(free, g), nil
	case g:
		return true, l.lockError(ErrRecursive, pc)
	case destroyed:
		return true, l.lockError(ErrUnset, pc)
	}
	return false, nil
}

// acquireLater sleeps between attempts, and looks what the holder is doing.
func (l *Lock) acquireLater(g uint64, pc uintptr) error {
	s := l.set
	start := s.now()
	warned := start
	var seen suspicion
	for nap := firstNap; ; nap = min(2*nap, lastNap) {
		if done, err := l.tryAcquire(g, pc); done {
			return err
		}
		if seen.isSuspended(l) {
			return l.lockError(ErrSuspended, pc)
		}
		if now := s.now(); now.Sub(warned) >= s.cfg.LongWait {
			warned = now
			long := l.lockError(ErrLong, pc)
			long.For = now.Sub(start)
			s.cfg.Warn(long)
		}
		time.Sleep(nap)
	}
}

// suspicion counts how often one holder in a row was seen not running.
type suspicion struct {
	h *holder
	n int
}

// isSuspended tells whether l's holder is a fult thread that has given up its worker. A thread that holds a lock
// rightly is always its worker's current thread. The lock and the current thread cannot be read in one step, so one
// look can be wrong. Only several looks with sleeps between them, all during the same acquisition, prove the fault.
func (s *suspicion) isSuspended(l *Lock) bool {
	h := l.holder.Load()
	if h == nil || h.thread == nil || h != s.h {
		*s = suspicion{h: h}
	}
	if h == nil || h.thread == nil {
		return false
	}
	if st := h.thread.State(); st == fult.Running || st == fult.Unknown {
		s.n = 0
		return false
	}
	s.n++
	return s.n >= looks && l.holder.Load() == h
}
