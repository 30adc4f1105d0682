package udp

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/golci/golci/internal/arch"
)

// mutex is a lock that is mostly tried. Unlock is a full fence: who finds the lock held, after having published work, is
// certain that the holder's look for work comes after.
type mutex struct {
	v atomic.Uint32
	_ [60]byte
}

func (m *mutex) TryLock() bool { return m.v.Load() == 0 && m.v.CompareAndSwap(0, 1) }

func (m *mutex) Unlock() { m.v.Store(0) }

// pausesPerTurn is how often a waiter looks before it lets other goroutines run: the holder may be one of them. After turns
// of that it sleeps: the holder's thread may need the core.
const (
	pausesPerTurn = 64
	turns         = 8
	doze          = 20 * time.Microsecond
)

func (m *mutex) Lock() {
	for n := 1; !m.TryLock(); n++ {
		switch {
		case n%pausesPerTurn != 0:
			arch.Pause()
		case n < turns*pausesPerTurn:
			runtime.Gosched()
		default:
			time.Sleep(doze)
		}
	}
}
