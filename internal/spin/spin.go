// Package spin has the lock for sections of some tens of nanoseconds that never block, allocate or call out.
package spin

import (
	"runtime"
	"sync/atomic"

	"github.com/golci/golci/internal/arch"
)

// Lock is a test-and-test-and-set spin lock; the zero value is unlocked. It takes 4 bytes, so that it fits beside the
// data it guards.
type Lock struct{ v atomic.Uint32 }

// Lock takes l. It spins, and after a while lets other goroutines run, because the holder may have been preempted.
func (l *Lock) Lock() {
	if l.v.Swap(1) != 0 {
		l.lockSlow()
	}
}

// TryLock takes l if it is free.
func (l *Lock) TryLock() bool { return l.v.Load() == 0 && l.v.Swap(1) == 0 }

// Unlock frees l. It publishes the section's stores, but does not order the caller's later loads.
func (l *Lock) Unlock() { arch.StoreRel32(&l.v, 0) }

const spinsBeforeYield = 200

func (l *Lock) lockSlow() {
	for {
		for n := 0; l.v.Load() != 0; n++ {
			if n >= spinsBeforeYield {
				runtime.Gosched()
				continue
			}
			arch.Pause()
		}
		if l.v.Swap(1) == 0 {
			return
		}
	}
}
