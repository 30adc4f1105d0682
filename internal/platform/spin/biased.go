package spin

import (
	"runtime"
	"sync/atomic"

	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/platform/futex"
	"github.com/golci/golci/internal/platform/invariants"
)

// Biased is a Lock that costs its usual owner no atomic read-modify-write. The zero value is unlocked.
//
// An exchange waits until all earlier stores of the core have reached the cache. If another core reads those lines all
// the time, as with the slots of a message ring, this wait is longer than the section. So a goroutine that takes the
// lock many times in a row becomes the owner, which enters by a release store to inside and a look at owner.
//
// Another goroutine ends the bias, once. It clears owner, has all threads pass a fence (membarrier), and waits until
// inside is 0. Either the owner sees the change of owner, or the other one sees inside.
//
// Each bias has an inside of its own. A former owner may have been preempted between its two looks at owner. It then
// stores to its inside much later, which must not affect the present owner.
//
// The bias belongs to a goroutine, not to an OS thread, because a goroutine may be preempted inside the section and
// move to another thread. Without membarrier the lock is an ordinary one, and so it is until the kernel has registered
// the process, and under the race detector.
type Biased struct {
	lock   Lock
	run    uint16 // sections in a row of the same goroutine; the holder of lock owns run, turns and last
	turns  uint8  // biases so far
	byBias uint8  // owned by the holder: its bias plus 1 if it has entered by that, 0 if it holds lock
	// owner is the owning goroutine, with the number of the bias from 0 in its low bits. 0: none. Written under lock.
	owner atomic.Uintptr
	last  uint32 // 32 bits of the identity of the goroutine that took lock last
	// inside is a word for each bias: 1 while the owner is inside without lock or tries to be. The owner writes it.
	inside [mostTurns]atomic.Uint32
}

const (
	runToOwn  = 256 // sections in a row after which a goroutine becomes the owner
	mostTurns = 3   // biases of one lock; a lock with several busy users gets no more
	turnBits  = 3   // mask of the low bits of owner; an identity is the address of a struct of words, so they are free
)

// canFence does not wait for the kernel: the caller holds the lock.
func canFence() bool { return !invariants.Race && futex.MembarrierReady() }

// Lock takes l. It spins, and lets other goroutines run after a while: the holder may have been preempted.
func (l *Biased) Lock() {
	g := arch.G()
	if o := l.owner.Load(); o&^turnBits == g && l.enterByBias(o) {
		return
	}
	l.lock.Lock()
	l.lockForeign(g)
}

// enterByBias enters by the bias o of the caller. It returns false if that bias has ended.
func (l *Biased) enterByBias(o uintptr) bool {
	turn := o & turnBits
	arch.StoreRel32(&l.inside[turn], 1)
	if l.owner.Load() == o {
		l.byBias = uint8(turn + 1)
		return true
	}
	arch.StoreRel32(&l.inside[turn], 0)
	return false
}

// TryLock takes l if it is free, and tells whether it has. It may have to end the bias of another goroutine. It then
// calls membarrier, and spins while the owner is inside.
func (l *Biased) TryLock() bool {
	g := arch.G()
	if o := l.owner.Load(); o&^turnBits == g {
		if l.inside[o&turnBits].Load() != 0 {
			return false // g itself is inside
		}
		if l.enterByBias(o) {
			return true
		}
	}
	if !l.lock.TryLock() {
		return false
	}
	l.lockForeign(g)
	return true
}

// lockForeign ends the bias of another goroutine, and counts sections in a row. The caller holds lock.
func (l *Biased) lockForeign(g uintptr) {
	if o := l.owner.Load(); o != 0 {
		l.revokeBias(o)
	}
	if who := uint32(g >> 4); l.last != who {
		l.last, l.run = who, 0
		return
	}
	l.run++
}

// growOwner makes the holder the owner, at the end of its section.
func (l *Biased) growOwner() {
	l.run = 0
	if l.turns < mostTurns && canFence() {
		l.owner.Store(arch.G() | uintptr(l.turns))
		l.turns++
	}
}

// revokeBias ends the bias o. It waits until the owner is outside and cannot enter by the bias any more.
func (l *Biased) revokeBias(o uintptr) {
	l.owner.Store(0)
	for !futex.MembarrierPrivate() {
		runtime.Gosched() // membarrier worked when the bias began, so the kernel is only short of memory
	}
	for n := 0; l.inside[o&turnBits].Load() != 0; n++ {
		Pause(n)
	}
}

// Unlock frees l. It publishes the stores of the section. It does not order the caller's later loads.
func (l *Biased) Unlock() {
	if by := l.byBias; by != 0 {
		l.byBias = 0
		arch.StoreRel32(&l.inside[by-1], 0)
		return
	}
	if l.run >= runToOwn {
		l.growOwner()
	}
	l.lock.Unlock()
}
