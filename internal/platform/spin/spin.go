// Package spin has locks for critical sections of some tens of nanoseconds. They must not block or allocate.
package spin

import (
	"runtime"
	"sync/atomic"

	"github.com/golci/golci/internal/platform/arch"
)

// Lock is a spin lock of the kind test-and-test-and-set. The zero value is unlocked. It takes 4 bytes.
type Lock struct{ v atomic.Uint32 }

// Lock takes l. It spins, and lets other goroutines run after a while: the holder may have been preempted.
func (l *Lock) Lock() {
	if l.v.Swap(1) != 0 {
		l.lockSlow()
	}
}

// TryLock takes l if it is free, and tells whether it has.
func (l *Lock) TryLock() bool { return l.v.Load() == 0 && l.v.Swap(1) == 0 }

// Unlock frees l. It publishes the stores of the section. It does not order the caller's later loads.
func (l *Lock) Unlock() { arch.StoreRel32(&l.v, 0) }

// Pause is turn n of a wait, from 0. It lets other goroutines run after a while, because whoever is waited for may have
// been preempted.
func Pause(n int) {
	const spinsBeforeYield = 200
	if n < spinsBeforeYield {
		arch.Pause()
	} else {
		runtime.Gosched()
	}
}

func (l *Lock) lockSlow() {
	for {
		for n := 0; l.v.Load() != 0; n++ {
			Pause(n)
		}
		if l.v.Swap(1) == 0 {
			return
		}
	}
}
