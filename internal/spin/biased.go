package spin

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/internal/arch"
	"github.com/golci/golci/internal/futex"
	"github.com/golci/golci/internal/invariants"
)

// Biased is a Lock that costs its usual owner no atomic read-modify-write. The zero value is unlocked.
//
// An exchange waits until every earlier store of the core has reached the cache. Where those stores go to lines that
// another core reads all the time, as the slots of a message ring do, that wait is longer than the section itself. So a
// lock that one goroutine takes many times in a row becomes its own: it then enters by a plain store of inside and a look at
// owner. Who else wants the lock takes the bias away, once: it stores owner, makes all threads of the process pass a
// fence (membarrier), and waits until inside is clear. Either the owner has seen the change of owner, or inside was seen.
//
// The bias goes to a goroutine and not to a thread, because a goroutine may be preempted, and move, inside the section.
// Where there is no membarrier, and under the race detector, which would not understand, the lock stays an ordinary one.
type Biased struct {
	lock   Lock
	inside atomic.Uint32  // 1 while the owner is inside without the lock; the owner writes it
	owner  atomic.Uintptr // whose the lock is; 0 for nobody's. Written under lock
	byBias bool           // the section was entered by the bias; the holder's
	// The rest is owned by the holder of lock.
	run   uint16  // times in a row that last took the lock
	turns uint16  // biases so far
	last  uintptr // who took the lock last
}

const (
	runToOwn  = 256 // sections in a row that make the lock one's own
	mostTurns = 8   // a lock that was taken away so often is not one for a bias
)

var canFence = sync.OnceValue(func() bool { return !invariants.Race && futex.RegisterMembarrier() })

// Lock takes l. It spins, and after a while lets other goroutines run, because the holder may have been preempted.
func (l *Biased) Lock() {
	g := arch.G()
	if l.owner.Load() == g {
		arch.StoreRel32(&l.inside, 1)
		if l.owner.Load() == g {
			l.byBias = true
			return
		}
		arch.StoreRel32(&l.inside, 0)
	}
	l.lock.Lock()
	l.locked(g)
}

// TryLock takes l if it is free.
func (l *Biased) TryLock() bool {
	g := arch.G()
	if l.owner.Load() == g && l.inside.Load() != 0 {
		return false // g itself is inside
	}
	if l.owner.Load() == g {
		l.Lock()
		return true
	}
	if !l.lock.TryLock() {
		return false
	}
	l.locked(g)
	return true
}

// locked is called with the ordinary lock held: it ends another's bias.
func (l *Biased) locked(g uintptr) {
	if l.owner.Load() != 0 {
		l.revoke()
	}
	if l.last != g {
		l.last, l.run = g, 0
		return
	}
	l.run++
}

// grow gives the lock to who holds it, at the end of its section.
func (l *Biased) grow() {
	l.run = 0
	if l.turns < mostTurns && canFence() {
		l.turns++
		l.owner.Store(l.last)
	}
}

// revoke waits until the owner is outside and cannot enter by its bias any more.
func (l *Biased) revoke() {
	l.owner.Store(0)
	for !futex.MembarrierPrivate() {
		runtime.Gosched() // it was there when the bias was given, so the kernel is only short of memory
	}
	for n := 0; l.inside.Load() != 0; n++ {
		if n < spinsBeforeYield {
			arch.Pause()
		} else {
			runtime.Gosched()
		}
	}
}

// Unlock frees l. It publishes the section's stores, but does not order the caller's later loads.
func (l *Biased) Unlock() {
	if l.byBias {
		l.byBias = false
		arch.StoreRel32(&l.inside, 0)
		return
	}
	if l.run >= runToOwn {
		l.grow()
	}
	l.lock.Unlock()
}
