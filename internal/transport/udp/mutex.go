package udp

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/golci/golci/internal/platform/arch"
)

// mutex is a lock that is mostly tried. Unlock is a full fence: a caller that finds the lock held, after it has
// published work, is certain that the holder's look for work comes after.
type mutex struct {
	v atomic.Uint32
	_ [60]byte
}

func (m *mutex) tryLock() bool { return m.v.Load() == 0 && m.v.CompareAndSwap(0, 1) }

func (m *mutex) Unlock() { m.v.Store(0) }

// pollMutex is the lock of a conduit's receiving side: the poller, calls of Pending, background progress, sleepers and
// Close share it. Whoever finds it held knows by whom: a user may not return soon,
// and may be the one who asks, from a sink; background progress has it for a moment. One word says both, so that no
// holder is ever nameless.
type pollMutex struct {
	v atomic.Uint32
	_ [60]byte
}

const (
	pollFree uint32 = iota
	pollUser
	pollBackground // or a sleeper who does its work
)

// lockUser takes m for somebody who polls; false if another user has it. A keeper is waited for.
func (m *pollMutex) lockUser() bool {
	for {
		switch m.v.Load() {
		case pollFree:
			if m.v.CompareAndSwap(pollFree, pollUser) {
				return true
			}
		case pollBackground:
			runtime.Gosched()
		default:
			return false
		}
	}
}

// lockBackground takes m for background progress's work; false if anybody has it.
func (m *pollMutex) lockBackground() bool {
	return m.v.Load() == pollFree && m.v.CompareAndSwap(pollFree, pollBackground)
}

// Lock takes m for the end of the conduit, or a look at its figures; it waits for whoever has it.
func (m *pollMutex) Lock() { waitFor(m.lockBackground) }

// Unlock is a full fence, as mutex.Unlock.
func (m *pollMutex) Unlock() { m.v.Store(pollFree) }

// pausesPerTurn is how often a waiter looks before it lets other goroutines run: the holder may be one of them. After
// turns of that it sleeps: the holder's thread may need the core.
const (
	pausesPerTurn = 64
	turns         = 8
	doze          = 20 * time.Microsecond
)

func (m *mutex) Lock() {
	if !m.tryLock() {
		waitFor(m.tryLock)
	}
}

// waitFor tries until it has the lock.
func waitFor(try func() bool) {
	for n := 1; !try(); n++ {
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
