package hsl

import (
	"sync/atomic"

	"github.com/golci/golci/internal/platform/arch"
)

// Values of Lock.owner that are no goroutine.
const (
	free      uint64 = 0
	destroyed        = ^uint64(0)
)

// Lock is a handler-safe lock. It must be initialised by Locks.Init or made by Locks.New, and not be copied.
type Lock struct {
	// owner is the goroutine (or coroutine) that holds the lock. An exchange acquires what a release store published.
	owner atomic.Uint64
	// set and name are constant between Init and Destroy.
	set  *Locks
	name string
	// holder says more of the holder, in checked mode; stored by the holder, read by reports.
	holder atomic.Pointer[holder]
}

// Lock takes l. While somebody else holds it, it spins, then lets other goroutines run, then sleeps. No other thread of
// the worker runs. The error is ErrRecursive, ErrUnset or, in checked mode, ErrSuspended.
func (l *Lock) Lock() error {
	if s := l.set; s != nil && !s.checked && l.owner.CompareAndSwap(free, uint64(arch.G())) {
		return nil
	}
	return l.lockSlow()
}

// TryLock takes l if it is free, and reports whether it did. It does not wait. The error is ErrRecursive or ErrUnset.
func (l *Lock) TryLock() (bool, error) {
	g := uint64(arch.G())
	if s := l.set; s != nil && !s.checked && l.owner.CompareAndSwap(free, g) {
		return true, nil
	}
	return l.tryLockSlow(g)
}

// Unlock releases l, without blocking. The error is ErrNotHeld, ErrNotHolder, ErrUnset or, in checked mode, ErrOrder.
func (l *Lock) Unlock() error {
	if s := l.set; s != nil && !s.checked && l.owner.Load() == uint64(arch.G()) {
		arch.StoreRel64(&l.owner, free)
		return nil
	}
	return l.unlockSlow()
}

// Destroy ends the use of l: ErrBusy unless it is free, ErrUnset unless it is initialised. A new Init may follow.
func (l *Lock) Destroy() error {
	if l.set == nil {
		return l.lockError(ErrUnset, 0)
	}
	return l.destroy(l.set.callerPlace(1))
}

func (l *Lock) destroy(pc uintptr) error {
	s := l.set
	if !l.owner.CompareAndSwap(free, destroyed) {
		if l.owner.Load() == destroyed {
			return l.lockError(ErrUnset, pc)
		}
		return l.lockError(ErrBusy, pc)
	}
	s.mu.Lock()
	delete(s.live, l)
	s.mu.Unlock()
	return nil
}

// Name is what Init was given.
func (l *Lock) Name() string { return l.name }

func (l *Lock) lockSlow() error {
	g, pc := uint64(arch.G()), l.set.callerPlace(2)
	if l.set == nil {
		return l.lockError(ErrUnset, pc)
	}
	if err := l.acquireFor(g, pc); err != nil {
		return err
	}
	l.set.noteTaken(l, uintptr(g), pc)
	return nil
}

func (l *Lock) tryLockSlow(g uint64) (bool, error) {
	pc := l.set.callerPlace(2)
	if l.set == nil {
		return false, l.lockError(ErrUnset, pc)
	}
	taken, err := l.tryAcquire(g, pc)
	if !taken || err != nil {
		return false, err
	}
	l.set.noteTaken(l, uintptr(g), pc)
	return true, nil
}

func (l *Lock) unlockSlow() error {
	pc := l.set.callerPlace(2)
	if l.set == nil {
		return l.lockError(ErrUnset, pc)
	}
	switch g := uint64(arch.G()); l.owner.Load() {
	case g:
		return l.set.releaseLast(l, uintptr(g), pc)
	case free:
		return l.lockError(ErrNotHeld, pc)
	case destroyed:
		return l.lockError(ErrUnset, pc)
	}
	return l.lockError(ErrNotHolder, pc)
}
