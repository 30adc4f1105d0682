// Package spin has locks for critical sections of some tens of nanoseconds. Such a section must not block, allocate
// or call functions of the user.
package spin

import (
	"runtime"
	"sync/atomic"

	"github.com/golci/golci/internal/arch"
)

// Lock is a spin lock of the kind test-and-test-and-set. The zero value is unlocked. It takes 4 bytes, so it fits
// beside its data.
type Lock struct{ v atomic.Uint32 }

// Lock takes l. It spins. After spinsBeforeYield turns it lets other goroutines run, because the holder may have been
// preempted.
func (l *Lock) Lock() {
	if l.v.Swap(1) != 0 {
		l.lockSlow()
	}
}

// TryLock takes l if it is free, and tells whether it has.
func (l *Lock) TryLock() bool { return l.v.Load() == 0 && l.v.Swap(1) == 0 }

// Unlock frees l. It publishes the stores of the section. It does not order the caller's later loads.
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
