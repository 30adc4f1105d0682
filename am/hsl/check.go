package hsl

import (
	"time"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/arch"
)

// holder is one holding of a lock, in checked mode. It does not change.
type holder struct {
	g      uintptr
	thread *fult.Thread
	pc     uintptr // where the lock was taken
	since  time.Time
}

// noteTaken notes in checked mode that g, the caller, has taken l.
func (s *Locks) noteTaken(l *Lock, g, pc uintptr) {
	if !s.checked {
		return
	}
	l.holder.Store(&holder{g: g, thread: s.currentThread(), pc: pc, since: s.now()})
	s.mu.Lock()
	s.held[g] = append(s.held[g], l)
	s.mu.Unlock()
}

// releaseLast frees l, which g, the caller, holds, if it is the last one that g took; pc is the place or 0.
func (s *Locks) releaseLast(l *Lock, g, pc uintptr) error {
	if !s.checked { // the owner came by the slow way only
		arch.StoreRel64(&l.owner, free)
		return nil
	}
	s.mu.Lock()
	held := s.held[g]
	last := len(held) - 1
	if last < 0 || held[last] != l {
		s.mu.Unlock()
		return l.lockError(ErrOrder, pc)
	}
	if last == 0 {
		delete(s.held, g)
	} else {
		s.held[g] = held[:last]
	}
	s.mu.Unlock()
	s.freeHeld(l, pc)
	return nil
}

// freeHeld frees l, which the caller holds, and tells if that took long.
func (s *Locks) freeHeld(l *Lock, pc uintptr) {
	var long *Error
	if d := s.now().Sub(l.holder.Load().since); d > s.cfg.LongHold {
		long = l.lockError(ErrLong, pc)
		long.For = d
	}
	l.holder.Store(nil)
	arch.StoreRel64(&l.owner, free)
	if long != nil {
		s.cfg.Warn(long)
	}
}

// lastTaken is the lock that the caller took last and still holds, or nil.
func (s *Locks) lastTaken() *Lock {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held[arch.G()]
	if len(held) == 0 {
		return nil
	}
	return held[len(held)-1]
}

// refuseHolder is the error of kind if the caller holds a lock.
func (s *Locks) refuseHolder(kind error) error {
	if !s.checked {
		return nil
	}
	if l := s.lastTaken(); l != nil {
		return l.lockError(kind, outsideCaller())
	}
	return nil
}

// dropAll releases all that the caller holds, and returns the error of kind about the last one taken.
func (s *Locks) dropAll(kind error) error {
	g := arch.G()
	s.mu.Lock()
	held := s.held[g]
	delete(s.held, g)
	s.mu.Unlock()
	if len(held) == 0 {
		return nil
	}
	err := held[len(held)-1].lockError(kind, 0)
	for i := len(held) - 1; i >= 0; i-- {
		s.freeHeld(held[i], 0)
	}
	return err
}
