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
// Each bias has an inside of its own. A former owner that was preempted between its two looks at owner still stores to
// inside when it goes on, perhaps much later; that must not tell anything of the present owner.
//
// The bias goes to a goroutine and not to a thread, because a goroutine may be preempted, and move, inside the section.
// Where there is no membarrier, and under the race detector, which would not understand, the lock stays an ordinary one.
type Biased struct {
	lock   Lock
	run    uint16 // times in a row that last took the lock; this, turns and last are of the holder of lock
	turns  uint8  // biases so far
	byBias uint8  // the holder's: the number of the bias by which it is inside, from 1; 0: it holds lock
	// owner is whose the lock is and, in the low bits, the number of the bias from 0; 0 for nobody's. Written under lock.
	owner atomic.Uintptr
	last  uint32 // who took the lock last, as far as 32 bits tell
	// inside, by number of the bias: 1 while its owner is inside without lock, or looks whether it may be; that one writes.
	inside [mostTurns]atomic.Uint32
}

const (
	runToOwn  = 256 // sections in a row that make the lock one's own
	mostTurns = 3   // a lock that was taken away so often is not one for a bias
	turnBits  = 3   // of owner; a goroutine's identity is the address of a struct of words, so they are free
)

var canFence = sync.OnceValue(func() bool { return !invariants.Race && futex.RegisterMembarrier() })

// Lock takes l. It spins, and after a while lets other goroutines run, because the holder may have been preempted.
func (l *Biased) Lock() {
	g := arch.G()
	if o := l.owner.Load(); o&^turnBits == g && l.enter(o) {
		return
	}
	l.lock.Lock()
	l.locked(g)
}

// enter enters by the bias o, which was seen to be the caller's; false if it is not there any more.
func (l *Biased) enter(o uintptr) bool {
	turn := o & turnBits
	arch.StoreRel32(&l.inside[turn], 1)
	if l.owner.Load() == o {
		l.byBias = uint8(turn + 1)
		return true
	}
	arch.StoreRel32(&l.inside[turn], 0)
	return false
}

// TryLock takes l if it is free. It may spin for the moment that ending another's bias takes.
func (l *Biased) TryLock() bool {
	g := arch.G()
	if o := l.owner.Load(); o&^turnBits == g {
		if l.inside[o&turnBits].Load() != 0 {
			return false // g itself is inside
		}
		if l.enter(o) {
			return true
		}
	}
	if !l.lock.TryLock() {
		return false
	}
	l.locked(g)
	return true
}

// locked is called with the ordinary lock held: it ends another's bias.
func (l *Biased) locked(g uintptr) {
	if o := l.owner.Load(); o != 0 {
		l.revoke(o)
	}
	if who := uint32(g >> 4); l.last != who {
		l.last, l.run = who, 0
		return
	}
	l.run++
}

// grow gives the lock to who holds it, at the end of its section.
func (l *Biased) grow() {
	l.run = 0
	if l.turns < mostTurns && canFence() {
		l.owner.Store(arch.G() | uintptr(l.turns))
		l.turns++
	}
}

// revoke ends the bias o: it waits until its owner is outside and cannot enter by it any more.
func (l *Biased) revoke(o uintptr) {
	l.owner.Store(0)
	for !futex.MembarrierPrivate() {
		runtime.Gosched() // it was there when the bias was given, so the kernel is only short of memory
	}
	for n := 0; l.inside[o&turnBits].Load() != 0; n++ {
		if n < spinsBeforeYield {
			arch.Pause()
		} else {
			runtime.Gosched()
		}
	}
}

// Unlock frees l. It publishes the section's stores, but does not order the caller's later loads.
func (l *Biased) Unlock() {
	if by := l.byBias; by != 0 {
		l.byBias = 0
		arch.StoreRel32(&l.inside[by-1], 0)
		return
	}
	if l.run >= runToOwn {
		l.grow()
	}
	l.lock.Unlock()
}
